"""Derived: the product of two steps, weights × values, made only where somebody looks at it.

It is queries × keys × width large, for every head: at 2,048 tokens more than the rest of a trace.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


class Part(NamedTuple):
    """A step that something is made from: its name and its numbers (shared, not copied)."""

    name: str
    value: Array


class Derived:
    """``weights`` (..., q, k) times ``values`` (..., k, w), pair by pair: (..., q, k, w).

    Leading axes broadcast; fewer value heads than weight heads are grouped, as in attention.
    """

    def __init__(self, weights: Part, values: Part) -> None:
        self.weights, self.values = weights, values
        a, v = weights.value, values.value
        self.groups = groups(a.shape, v.shape)
        lead = v.shape[:-2]
        if self.groups > 1:
            lead = (*lead[:-1], lead[-1] * self.groups)
        lead = np.broadcast_shapes(a.shape[:-2], lead)
        self.shape = (*lead, *a.shape[-2:], v.shape[-1])
        self.dtype = np.result_type(a, v)
        if a.shape[-1] != v.shape[-2]:
            raise ValueError(f"{a.shape[-1]} weights of a query cannot weigh {v.shape[-2]} values")

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def rule(self) -> str:
        """``weights * values``: what a file says instead of the numbers."""
        return f"{self.weights.name} * {self.values.name}"

    def __call__(self) -> Array:
        values = self.values.value
        if self.groups > 1:
            values = values.repeat(self.groups, -3)
        weights, values = self.weights.value[..., None], values[..., None, :, :]
        if not np.isfinite(values).all():  # 0 · NaN is NaN, but what has no weight adds nothing
            values = np.where(weights == 0, 0, values)
        made: Array = weights * values
        return made


def groups(weights: tuple[int, ...], values: tuple[int, ...]) -> int:
    """How many heads of weights share a head of values."""
    if len(weights) < 3 or len(values) < 3 or not 1 < values[-3] < weights[-3]:
        return 1  # one head of values broadcasts
    return weights[-3] // values[-3]
