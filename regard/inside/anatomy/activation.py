"""Activation: a curve through which each number of a vector goes by itself.

    gelu(x) = x · g,   g = Φ(x)

Every one of them multiplies a number by a gate that depends on it. With its gates held at the
values that they had, an activation is linear, as a norm is with its scale held.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.inside.anatomy.linear import numbers
from regard.trace import Array

ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "gelu": F.gelu,
    "gelu (by tanh)": partial(F.gelu, approximate="tanh"),
    "relu": F.relu,
    "silu": F.silu,
    "tanh": torch.tanh,
}


@dataclass(frozen=True)
class HeldActivation:
    """An activation at one vector, its gates held at the values that they had there."""

    name: str
    gates: Array
    shift: Array

    def __call__(self, x: Array) -> Array:
        made: Array = self.gates * x + self.shift
        return made

    def back(self, direction: Array) -> Array:
        """d with d · x = direction · (gates · x), for every x."""
        found: Array = direction * self.gates
        return found


def activation_between(given: Tensor, made: Tensor) -> HeldActivation | None:
    """The activation that makes ``made`` out of ``given`` (1, width); None if it is none."""
    if given.shape != made.shape:
        return None
    for name, curve in ACTIVATIONS.items():
        if torch.allclose(curve(given), made, rtol=1e-4, atol=1e-6):
            x, y = numbers(given[0]), numbers(made[0])
            is_zero = np.abs(x) < 1e-30
            gates = np.where(is_zero, 0.0, y / np.where(is_zero, 1.0, x))
            return HeldActivation(name, gates, np.where(is_zero, y, 0.0))
    return None
