"""The values of one recurrent step as a trace, out of those of all steps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regard.trace import Array, Step, Trace

SOURCE = "inter-attention"
"""Where a decoder with two attentions notes the one to the source."""


@dataclass(frozen=True)
class StepScopes:
    """Where a design notes its steps, each scope with a place for the layer."""

    step: str
    """One step, by its number."""
    first: int
    """The number of the first step."""
    weights: str
    """The weights of all steps."""

    def of_step(self, layer: int, token: int) -> str:
        """The scope of the step of a token."""
        return self.step.format(layer=layer, number=token + self.first)

    def scores_in(self, step: Trace) -> Array:
        """(keys,): what the weights of a step are made of, empty if it had nothing to look at."""
        for name in (f"{SOURCE}/scores", "raised", "scores"):
            if name in step:
                return step.value(name)
        return np.empty(0)


@dataclass(frozen=True)
class Slots:
    """What the keys of a step stand for."""

    tape: list[str]
    """What is on the tape when the step looks at it."""
    source: list[str] | None = None
    """The text that a decoder looks at."""

    def keys(self, scope: str, count: int) -> list[str]:
        """The labels of ``count`` keys of the attention in a scope of the step."""
        if self.source is not None and scope in ("", SOURCE):
            return self.source
        return self.tape[len(self.tape) - count :]


def step_trace(whole: Trace, scope: str, slots: Slots, given: list[Step]) -> Trace:
    """What is noted in ``scope``, without the axis of the batch and that of the one query, after
    what the step was ``given``; the keys are labelled."""
    trace = Trace(list(given))
    for step in whole:
        if not f"{step.scope}/".startswith(f"{scope}/"):
            continue
        inside = step.scope.removeprefix(scope).strip("/")
        asks = "query" in step.axes
        value: Array = step.value[0, 0] if asks else step.value[0]
        axes = step.axes[2:] if asks else step.axes[1:]
        labels = {"key": slots.keys(inside, len(value))} if "key" in axes else None
        told = {"formula": step.formula, "meaning": step.meaning, "scope": inside}
        trace.steps.append(Step(step.name, value, axes=axes, labels=labels, **told))
    return trace
