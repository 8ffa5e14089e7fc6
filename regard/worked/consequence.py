"""Consequence: what a step would be if the numbers claimed for the steps before it were true.

A number that is wrong but equals its consequence is right arithmetic on a wrong number. Whoever
computed it may have gone on with the numbers as written, or with all their digits and rounded them
only when writing: both are consequences.
"""

from __future__ import annotations

import numpy as np
import torch

from regard.trace import Array, Trace
from regard.worked.claims import Claim
from regard.worked.example import Example
from regard.worked.stage import Known, Stage, weights_of
from regard.worked.stages import stages


class Consequences:
    """The steps of an example, recomputed from what is claimed."""

    def __init__(
        self, example: Example, trace: Trace, claims: dict[str, Claim], *, rounded: bool = True
    ) -> None:
        """``rounded``: made of the claims as written, not of what they were rounded from."""
        self.example = example
        self.rounded = rounded
        self.true = {step.path: step for step in trace}
        self.claims = claims
        self.stages = {stage.name: stage for stage in stages(example)}
        self.rows = {
            row: (stage.name, i)
            for stage in self.stages.values()
            for i, row in enumerate(stage.gathers)
        }
        self.weights = weights_of(example)
        self._made: dict[str, Array | None] = {}

    def given(self, step: str) -> Array:
        """The step as claimed, and as it follows from earlier claims where it is not claimed."""
        value = self.of(step)
        if value is None:
            value = self.true[step].value.astype(np.float64)
        if step in self.rows:  # a row of what is claimed as a whole
            whole, i = self.rows[step]
            if whole in self.claims:
                claim, width = self.claims[whole], value.shape[-1]
                value = self._taken(
                    claim.value[i][..., :width], claim.tolerance[i][..., :width], value
                )
        return self._claimed(step, value)

    def of(self, step: str) -> Array | None:
        """The step recomputed from the ones before it; None for those that come first."""
        if step not in self._made:
            self._made[step] = self._of(step)
        return self._made[step]

    def needed(self, step: str) -> Known:
        """What the step is made from, as claimed."""
        steps = [n for n in self.stages[step].needs if n in self.true]
        return self.weights | {n: torch.from_numpy(self.given(n)) for n in steps}

    def _of(self, step: str) -> Array | None:
        if step not in self.stages or step in self.example.given:
            return None
        if self.stages[step].gathers:
            return self._gathered(self.stages[step])
        made: Array = self.stages[step].run(self.needed(step)).numpy()
        return made

    def _gathered(self, stage: Stage) -> Array:
        """A step that is nothing but others below each other, with zeros behind the short ones."""
        made = np.zeros_like(self.true[stage.name].value, dtype=np.float64)
        for i, row in enumerate(stage.gathers):
            value = self.of(row) if row in self.true else None
            if value is not None:
                made[i, ..., : value.shape[-1]] = self._claimed(row, value)
        return made

    def _claimed(self, step: str, value: Array) -> Array:
        if step not in self.claims:
            return value
        return self._taken(self.claims[step].value, self.claims[step].tolerance, value)

    def _taken(self, claimed: Array, tolerance: Array, value: Array) -> Array:
        """What is claimed, where something is, in place of ``value``, which follows."""
        made = np.isfinite(claimed)
        if not self.rounded:
            made &= ~(np.abs(claimed - value) <= tolerance)
        return np.where(made, claimed, value)
