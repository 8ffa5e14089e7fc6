"""Consequence: what a step would be if the numbers claimed for the steps before it were true.

A number that is wrong but equals its consequence is right arithmetic on a wrong number.
"""

from __future__ import annotations

import numpy as np
import torch

from regard.trace import Array, Trace
from regard.worked.claims import Claim
from regard.worked.example import Example
from regard.worked.stages import Known, stages, weights_of


class Consequences:
    """The steps of an example, recomputed from what is claimed."""

    def __init__(self, example: Example, trace: Trace, claims: dict[str, Claim]) -> None:
        self.example = example
        self.trace = trace
        self.claims = claims
        self.stages = {stage.name: stage for stage in stages(example)}
        self.weights = weights_of(example)

    def given(self, step: str) -> Array:
        """The step as claimed, and as it follows from earlier claims where it is not claimed."""
        value = self.of(step)
        if value is None:
            value = self.trace.value(step).astype(np.float64)
        if step in self.claims:
            value = np.where(self.claims[step].made, self.claims[step].value, value)
        return value

    def of(self, step: str) -> Array | None:
        """The step recomputed from the ones before it; None for those that come first."""
        if step not in self.stages or step in self.example.given:
            return None
        made: Array = self.stages[step].run(self.needed(step)).numpy()
        return made

    def needed(self, step: str) -> Known:
        """What the step is made from, as claimed."""
        steps = [n for n in self.stages[step].needs if n not in self.weights]
        return self.weights | {n: torch.from_numpy(self.given(n)) for n in steps}
