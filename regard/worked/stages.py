"""Stages: the computation of a worked example, and its steps one by one, whatever the mechanism."""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

import numpy as np

from regard.errors import ExampleError
from regard.record import record
from regard.trace import Step, Trace
from regard.worked.example import Example
from regard.worked.stage import Stage


def compute(example: Example) -> Trace:
    """Run the example in float64 and record every step that follows from what is given."""
    with record(example.mechanism, example.tokens) as whole:
        _family(example).run(example)
    trace = Trace([alone(step) for step in whole], mechanism=whole.mechanism, tokens=whole.tokens)
    for step in trace:
        if step.derived is None and not np.isfinite(step.value).all():
            raise example.located(
                ExampleError(
                    f"the numbers are too large to compute with: {step.path} would exceed "
                    f"{sys.float_info.max:.1e}; scale x and the matrices down"
                )
            )
    return trace


def stages(example: Example) -> list[Stage]:
    """The stages of the example's mechanism, in the order of computation."""
    made: list[Stage] = _family(example).stages(example)
    return made


def _family(example: Example) -> ModuleType:
    return import_module(f"regard.worked.mechanisms.{example.dialect.family}")


def alone(step: Step) -> Step:
    """The step of the one text there is: without the axes of a batch, of layers, of one query.

    Modules read batches and have layers; a worked example has one of each.
    """
    scope = step.scope.removeprefix("layer 0").removeprefix("/")
    single = [
        axis == "batch" or (axis == "query" and scope.startswith("step ")) for axis in step.axes
    ]
    if scope == step.scope and not any(single):
        return step
    value = step.value
    for axis in reversed([i for i, one in enumerate(single) if one]):
        value = value.take(0, axis)
    axes = [axis for axis, one in zip(step.axes, single, strict=True) if not one]
    return Step(
        step.name, value, axes=axes, formula=step.formula, meaning=step.meaning, scope=scope
    )
