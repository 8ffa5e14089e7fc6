"""The simple RNN: a state for each word, made from the word and the state before it."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.recurrent import SimpleRNN
from regard.worked.example import Example
from regard.worked.mechanisms.module import filled
from regard.worked.mechanisms.tape import gathered
from regard.worked.stage import Known, Stage, Wrongly, weights_of


def run(example: Example) -> None:
    """Read the words with :class:`SimpleRNN`, every state noted."""
    known = weights_of(example)
    _module(known)(known["x"].unsqueeze(0), _first(known))


def stages(example: Example) -> list[Stage]:
    """``step t/state`` for each word; ``states`` are all of them."""
    made = [_state(t) for t in range(1, len(example.tokens) + 1)]
    return [*made, gathered("states", [stage.name for stage in made])]


def _module(known: Known) -> SimpleRNN:
    width, hidden = known["x"].shape[-1], known["a"].shape[-1]
    return filled(
        SimpleRNN(width, hidden),
        {
            "inputs.weight": known["a"][:width].mT,
            "recurrent": known["a"][width:].mT,
            "inputs.bias": known.get("b"),
        },
    )


def _first(known: Known) -> Tensor:
    hidden = known["a"].shape[-1]
    return known.get("h_0", known["a"].new_zeros(hidden)).unsqueeze(0)


def _state(t: int) -> Stage:
    before = f"step {t - 1}/state"

    def read(known: Known) -> tuple[Tensor, Tensor]:
        """The word and the state before it."""
        old = _first(known) if t == 1 else known[before].unsqueeze(0)
        return known["input"][None, t - 1 : t], old

    def new(known: Known) -> Tensor:
        x, old = read(known)
        made: Tensor = _module(known)(x, old)
        return made[0, 0]

    def summed(known: Known) -> Tensor:
        x, old = read(known)
        return (torch.cat((x[0], old), -1) @ known["a"] + known.get("b", 0))[0]

    def swapped(known: Known) -> Tensor:
        x, old = read(known)
        return torch.tanh(torch.cat((old, x[0]), -1) @ known["a"] + known.get("b", 0))[0]

    def forgetful(known: Known) -> Tensor:
        x, old = read(known)
        made: Tensor = _module(known)(x, old * 0)
        return made[0, 0]

    return Stage(
        f"step {t}/state",
        ("input",) if t == 1 else ("input", before),
        new,
        weights=("a", "b"),
        slips=(
            Wrongly("a sigmoid is taken for tanh", lambda k: summed(k).sigmoid()),
            Wrongly("tanh is forgotten", summed),
            Wrongly("x and h are concatenated in the wrong order", swapped),
            Wrongly("the state before is left out", forgetful),
        ),
    )
