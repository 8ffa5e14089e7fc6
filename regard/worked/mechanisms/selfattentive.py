"""The simple RNN with attention to all its states, in both its forms."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.recurrent import SelfAttentiveRNN, Tapes
from regard.recurrent.selfattentive import SelfAttentiveLayer
from regard.recurrent.simple import note_input
from regard.worked.example import Example
from regard.worked.mechanisms.module import filled
from regard.worked.mechanisms.tape import additive_slips, attended, gathered
from regard.worked.stage import Known, Stage, Wrongly, weights_of


def run(example: Example) -> None:
    """Read the words with :class:`SelfAttentiveRNN`, every value noted."""
    known = weights_of(example)
    note_input(known["x"])
    _module(example, known)(known["x"].unsqueeze(1))


def stages(example: Example) -> list[Stage]:
    """For each word its state, then what it attends to; ``attention`` and ``states`` of all."""
    n = len(example.tokens)
    made = [stage for t in range(1, n + 1) for stage in _step(example, t)]
    return [
        *made,
        gathered("attention", [f"step {t}/weights" for t in range(1, n + 1)], n),
        gathered("states", [f"step {t}/state" for t in range(1, n + 1)]),
    ]


def _module(example: Example, known: Known) -> SelfAttentiveRNN:
    width, hidden = known["x"].shape[-1], known["a"].shape[-1]
    form, align = example.option("form"), example.option("align")
    a = known["a"]
    weights: dict[str, Tensor | None] = {
        "inputs.weight": a[:width].mT,
        "inputs.bias": known.get("b"),
        "recurrent": a[width : width + hidden].mT,
    }
    if form == "xch":
        weights["previous"] = a[width + hidden :].mT
    if align == "additive":  # W is of [h_i; h_t]
        weights |= {"w_key": known["w"][:hidden].mT, "w_query": known["w"][hidden:].mT}
        weights["v"] = known["v"]
    else:
        weights |= {"w_key": known["w_k"].mT, "w_query": known["w_q"].mT}
    module = SelfAttentiveRNN(width, hidden, form=form, score=align)
    filled(module.layers[0], weights)
    return module.double().requires_grad_(False)


def _step(example: Example, t: int) -> list[Stage]:
    """The stages of word t."""
    at, before = f"step {t}", f"step {t - 1}"
    kept = tuple(f"step {i}/state" for i in range(1, t + 1))
    dot = example.option("align") == "dot"
    form = example.option("form")

    def old(known: Known, name: str) -> Tensor:
        hidden = known["a"].shape[-1]
        return known[f"{before}/{name}"] if t > 1 else known["a"].new_zeros(hidden)

    def read(known: Known) -> list[Tensor]:
        """What A is applied to."""
        parts = [known["input"][t - 1], old(known, "context")]
        return [*parts, old(known, "state")] if form == "xch" else parts

    def summed(known: Known, parts: list[Tensor]) -> Tensor:
        return torch.cat(parts) @ known["a"] + known.get("b", 0)

    def state(known: Known) -> Tensor:
        tape = [known[name] for name in kept[:-1]]
        hidden = torch.stack(tape) if tape else known["a"].new_zeros(0, known["a"].shape[-1])
        tapes = Tapes(
            hidden[None, None], None, old(known, "context")[None, None], torch.tensor([t - 1])
        )
        x = known["input"][t - 1][None, None]
        # With weights wanted it reads word by word, in any precision.
        made: Tensor = _module(example, known)(x, tapes, need_weights=True).output
        return made[0, 0]

    def score(known: Known) -> Tensor:
        (layer,) = _module(example, known).parts()
        assert isinstance(layer, SelfAttentiveLayer)
        states = torch.stack([known[name] for name in kept])
        keys = layer.project(states)
        assert keys is not None
        return layer.score(states[-1:] @ layer.w_query.t(), keys)[0]

    def hidden(known: Known) -> Tensor:
        states = torch.stack([known[name] for name in kept])
        return torch.cat((states, states[-1:].expand_as(states)), -1) @ known["w"]

    def state_for_context(known: Known) -> Tensor:
        parts = [known["input"][t - 1], old(known, "state"), old(known, "state")]
        return torch.tanh(summed(known, parts if form == "xch" else parts[:2]))

    usual = (
        Wrongly("a sigmoid is taken for tanh", lambda k: summed(k, read(k)).sigmoid()),
        Wrongly("tanh is forgotten", lambda k: summed(k, read(k))),
        Wrongly("the state before is taken for the context", state_for_context),
    )
    seen = ("input", *kept[:-1], *((f"{before}/context",) if t > 1 else ()))
    return [
        Stage(f"{at}/state", seen, state, weights=("a", "b"), slips=usual),
        *attended(
            at,
            score,
            kept,
            ("w_k", "w_q") if dot else ("w", "v"),
            lambda k: torch.stack([k[name] for name in kept]),
            kept,
            () if dot else additive_slips(hidden, lambda k: k["v"]),
        ),
    ]
