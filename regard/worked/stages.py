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
    trace = Trace(
        [alone(step, example.heads) for step in whole],
        mechanism=whole.mechanism,
        tokens=whole.tokens,
    )
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


def attention_in(example: Example) -> tuple[Example, str] | None:
    """The attention that is a part of the mechanism, as an example of its own, and its scope."""
    family = _family(example)
    if not hasattr(family, "attention_of"):
        return None
    return family.attention_of(example), getattr(family, "SCOPE", "")


def _family(example: Example) -> ModuleType:
    return import_module(f"regard.worked.mechanisms.{example.dialect.family}")


def alone(step: Step, heads: int = 1) -> Step:
    """The step of the one text there is: without the axes of a batch, of one head, of one query.

    Modules read batches and have layers and heads; a worked example may have one of each.
    """
    scope = step.scope.removeprefix("layer 0").removeprefix("/")
    one = {"batch"}
    if heads == 1 or step.name == "mask":
        one.add("head")
    if scope.startswith("step "):
        one.add("query")
    single = [axis in one for axis in step.axes]
    if scope == step.scope and not any(single):
        return step
    value = step.value
    for axis in reversed([i for i, gone in enumerate(single) if gone]):
        value = value.take(0, axis)
    axes = [axis for axis, gone in zip(step.axes, single, strict=True) if not gone]
    return Step(
        step.name, value, axes=axes, formula=step.formula, meaning=step.meaning, scope=scope
    )
