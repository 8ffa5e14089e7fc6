"""The LSTM, and the LSTMN: the LSTM that attends to all its states and cells."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regard.recurrent import LSTMN, Tapes
from regard.recurrent.lstmn import LSTMNLayer, renewed, shown
from regard.recurrent.simple import note_input
from regard.worked.example import Example
from regard.worked.mechanisms.module import filled
from regard.worked.mechanisms.tape import additive_slips, attended, gathered
from regard.worked.stage import Known, Stage, Wrongly, weights_of

GATES = {"input gate": "i", "forget gate": "f", "candidate": "c", "output gate": "o"}
"""The parts of the module's matrices, in its order, and the letters of their weights."""


def run(example: Example) -> None:
    """Read the words with :class:`LSTMN`, every value noted."""
    known = weights_of(example)
    note_input(known["x"])
    state = None
    if example.mechanism == "lstm":
        state = Tapes.of(*(_first(known, name)[None, None] for name in ("h_0", "c_0")))
    _module(example, known)(known["x"].unsqueeze(1), state)


def stages(example: Example) -> list[Stage]:
    """For each word what it recalls, its gates, its cell and its state; ``states`` of all."""
    n = len(example.tokens)
    made = [stage for t in range(1, n + 1) for stage in _step(example, t)]
    if example.mechanism == "lstmn":
        made.append(gathered("attention", [f"step {t}/weights" for t in range(1, n + 1)], n))
    return [*made, gathered("states", [f"step {t}/state" for t in range(1, n + 1)])]


def _first(known: Known, name: str) -> Tensor:
    return known.get(name, known["w_i"].new_zeros(known["w_i"].shape[-1]))


def _module(example: Example, known: Known) -> LSTMN:
    """Gates are of [h; x]: the first rows of each matrix are for h."""
    width, hidden = known["x"].shape[-1], known["w_i"].shape[-1]
    attends = example.mechanism == "lstmn"
    module = LSTMN(width, hidden, attention=attends)
    zeros = known["w_i"].new_zeros(hidden)
    weights: dict[str, Tensor | None] = {
        "inputs.weight": torch.cat([known[f"w_{g}"][hidden:].mT for g in GATES.values()]),
        "recurrent": torch.cat([known[f"w_{g}"][:hidden].mT for g in GATES.values()]),
        "inputs.bias": torch.cat([known.get(f"b_{g}", zeros) for g in GATES.values()]),
    }
    if attends:
        weights |= {"w_key": known["w_h"].mT, "w_input": known["w_x"].mT}
        weights |= {"w_summary": known["w_tilde"].mT, "v": known["v"]}
    filled(module.layers[0], weights)
    return module.double().requires_grad_(False)


def _layer(example: Example, known: Known) -> LSTMNLayer:
    (layer,) = _module(example, known).parts()
    assert isinstance(layer, LSTMNLayer)
    return layer


def _step(example: Example, t: int) -> list[Stage]:
    """The stages of word t."""
    recalled = _attention(example, t) if example.mechanism == "lstmn" else _recall(t)
    at = f"step {t}"
    gates = [_gate(example, t, name) for name in GATES]
    c = f"{at}/recalled cell"
    i, f, g, o = (f"{at}/{name}" for name in GATES)

    def cell(known: Known) -> Tensor:
        return renewed(known[i], known[f], known[g], known[c])

    def state(known: Known) -> Tensor:
        return shown(known[o], known[f"{at}/cell"])

    swapped = Wrongly(
        "the input gate and the forget gate are swapped",
        lambda k: renewed(k[f], k[i], k[g], k[c]),
    )
    bare = Wrongly("tanh is forgotten", lambda k: k[o] * k[f"{at}/cell"])
    soft = Wrongly("a sigmoid is taken for tanh", lambda k: k[o] * k[f"{at}/cell"].sigmoid())
    return [
        *recalled,
        *gates,
        Stage(f"{at}/cell", (i, f, g, c), cell, slips=(swapped,)),
        Stage(f"{at}/state", (o, f"{at}/cell"), state, slips=(bare, soft)),
    ]


def _recall(t: int) -> list[Stage]:
    """Of the LSTM: the state and the cell of the word before, or those at the start."""
    made = []
    for name, first in (("state", "h_0"), ("cell", "c_0")):
        before = f"step {t - 1}/{name}"

        def last(known: Known, before: str = before, first: str = first) -> Tensor:
            return _first(known, first) if t == 1 else known[before]

        made.append(Stage(f"step {t}/recalled {name}", (before,) if t > 1 else (), last))
    return made


def _attention(example: Example, t: int) -> list[Stage]:
    """Of the LSTMN: both tapes, weighed by how well each state fits x_t and h~_{t-1}."""
    at, before = f"step {t}", f"step {t - 1}/recalled state"
    states, cells = (tuple(f"step {i}/{name}" for i in range(1, t)) for name in ("state", "cell"))

    def summed(known: Known) -> Tensor:
        h = torch.stack([known[name] for name in states])
        asked = known["input"][t - 1] @ known["w_x"] + known[before] @ known["w_tilde"]
        return h @ known["w_h"] + asked

    def score(known: Known) -> Tensor:
        layer = _layer(example, known)
        h = torch.stack([known[name] for name in states])
        query = known["input"][t - 1] @ known["w_x"] + known[before] @ known["w_tilde"]
        return layer.score(query[None], _projected(layer, h))[0]

    def tape(known: Known) -> Tensor:
        rows = [torch.cat((known[h], known[c])) for h, c in zip(states, cells, strict=True)]
        return torch.stack(rows)

    made = []
    if t > 1:
        made = attended(
            at,
            score,
            ("input", *states, before),
            ("w_h", "w_x", "w_tilde", "v"),
            tape,
            (*states, *cells),
            additive_slips(summed, lambda k: k["v"]),
        )
    return [*made, _part(t, "state", 0), _part(t, "cell", 1)]


def _projected(layer: LSTMNLayer, states: Tensor) -> Tensor:
    keys = layer.project(states)
    assert keys is not None
    return keys


def _part(t: int, name: str, half: int) -> Stage:
    """The half of the context that is of the states, or of the cells."""
    context = f"step {t}/context"

    def cut(known: Known) -> Tensor:
        if t == 1:
            return known["w_i"].new_zeros(known["w_i"].shape[-1])
        return known[context].chunk(2)[half]

    return Stage(f"step {t}/recalled {name}", (context,) if t > 1 else (), cut)


def _gate(example: Example, t: int, name: str) -> Stage:
    """One of the gates, or the candidate."""
    letter, place = GATES[name], list(GATES).index(name)
    old = f"step {t}/recalled state"

    def gate(known: Known) -> Tensor:
        layer = _layer(example, known)
        projected = layer.inputs(known["input"][t - 1 : t])
        return layer.gates(projected, known[old].unsqueeze(0))[place][0]

    def summed(known: Known) -> Tensor:
        read = torch.cat((known[old], known["input"][t - 1]))
        return read @ known[f"w_{letter}"] + known.get(f"b_{letter}", 0)

    def swapped(known: Known) -> Tensor:
        read = torch.cat((known["input"][t - 1], known[old]))
        return right(read @ known[f"w_{letter}"] + known.get(f"b_{letter}", 0))

    right: Callable[[Tensor], Tensor] = torch.tanh if name == "candidate" else torch.sigmoid
    other: Callable[[Tensor], Tensor] = torch.sigmoid if name == "candidate" else torch.tanh
    named = ("a sigmoid", "tanh") if name == "candidate" else ("tanh", "a sigmoid")
    return Stage(
        f"step {t}/{name}",
        ("input", old),
        gate,
        weights=(f"w_{letter}", f"b_{letter}"),
        slips=(
            Wrongly(f"{named[0]} is taken for {named[1]}", lambda k: other(summed(k))),
            Wrongly(f"{named[1].removeprefix('a ')} is forgotten", summed),
            Wrongly("h and x are concatenated in the wrong order", swapped),
        ),
    )
