"""Stage: how one step of a mechanism is made from earlier ones.

A mechanism is run by its own module; its stages make each step again, alone, so that it can be
said what follows from a number that is claimed, and what a slip would have made of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.worked.dialects import STEPS
from regard.worked.parts import Parts

Known = Mapping[str, Tensor]
"""The steps known so far, and what is given: matrices as (inputs, outputs)."""


class Wrongly(NamedTuple):
    """A way to make a step wrongly: the end of "… is what you get if", and what it makes."""

    says: str
    run: Callable[[Known], Tensor]


class Stage(NamedTuple):
    """One step: what it needs, and the function that makes it."""

    name: str
    needs: tuple[str, ...]
    run: Callable[[Known], Tensor]
    noted: bool = True
    """False if an earlier stage notes this step along with its own: this tells them apart."""
    gathers: tuple[str, ...] = ()
    """The steps that are its rows, if it is nothing but these."""
    weights: tuple[str, ...] = ()
    """Those of the given arrays that it uses."""
    slips: tuple[Wrongly, ...] = ()
    """The usual mistakes in making it, besides those that any step may have."""


def weights_of(example: Parts) -> dict[str, Tensor]:
    """What is given and is no step, by name; matrices as (inputs, outputs) whatever the layout."""
    return {
        name: torch.from_numpy(np.ascontiguousarray(example.turned(name)))
        for name in example.given
        if name not in STEPS
    }


def under(scope: str, stages: Iterable[Stage], inputs: Mapping[str, str]) -> list[Stage]:
    """The stages of a part, in a scope of the whole.

    ``inputs`` says which of their needs are steps or arrays outside of it, and how those are
    called there.
    """
    stages = list(stages)
    inside = {stage.name for stage in stages}

    def outer(name: str) -> str:
        return inputs.get(name) or (f"{scope}/{name}" if name in inside else name)

    def run_of(run: Callable[[Known], Tensor]) -> Callable[[Known], Tensor]:
        def run_inside(known: Known) -> Tensor:
            named = {
                name: known[outer(name)] for name in (*inside, *inputs) if outer(name) in known
            }
            return run({**known, **named})

        return run_inside

    return [
        stage._replace(
            name=f"{scope}/{stage.name}",
            needs=tuple(map(outer, stage.needs)),
            gathers=tuple(map(outer, stage.gathers)),
            weights=tuple(map(outer, stage.weights)),
            run=run_of(stage.run),
            slips=tuple(Wrongly(slip.says, run_of(slip.run)) for slip in stage.slips),
        )
        for stage in stages
    ]
