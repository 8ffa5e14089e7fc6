"""Norm: what a norm computes, told from what it was given and what it made.

    layer norm   y = (x − mean x) / sqrt(var x + ε) · g + b
    RMS norm     y = x / sqrt(mean x² + ε) · g

g is the module's weight, or 1 plus it (Gemma). With its scale 1 / sqrt(…) held, a norm is linear:
what it does to a sum it does to each part, and so can be followed backwards.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import nn

from regard.inside.anatomy.linear import numbers
from regard.trace import Array

EPSILONS = ("eps", "variance_epsilon", "epsilon")
CLOSE = 1e-4
"""How far the formula may be from what the module made, in units of the largest number."""


def is_norm(module: nn.Module) -> bool:
    """Whether a module is called a norm and has no modules in it."""
    named = "norm" in type(module).__name__.lower()
    return named and next(module.children(), None) is None


@dataclass(frozen=True)
class HeldNorm:
    """A norm at one vector, its scale held at the value that it had there."""

    centred: bool
    gain: Array
    shift: Array
    scale: float
    """1 / sqrt(var + ε), or 1 / sqrt(mean square + ε)."""

    def __call__(self, x: Array) -> Array:
        """The norm of the vector it is held at; of any other, what its linear part makes of it."""
        made: Array = (x - x.mean() if self.centred else x) * self.scale * self.gain + self.shift
        return made

    def back(self, direction: Array) -> Array:
        """d with d · x = direction · (norm(x) − shift), for every x."""
        found = direction * self.gain * self.scale
        return found - found.mean() if self.centred else found

    @property
    def formula(self) -> str:
        """As a norm of x."""
        return "(x − mean x) / sd x · g + b" if self.centred else "x / rms x · g"


def held(module: nn.Module, given: Array, made: Array) -> HeldNorm | None:
    """What ``module`` did to the one vector ``given``; None if it is neither kind of norm."""
    weight, bias = (
        None if (tensor := getattr(module, name, None)) is None else numbers(tensor)
        for name in ("weight", "bias")
    )
    epsilon = next((float(getattr(module, n)) for n in EPSILONS if hasattr(module, n)), 0.0)
    ones, shift = np.ones_like(given), np.zeros_like(given) if bias is None else bias
    gains = [ones] if weight is None else [weight, 1 + weight]
    for centred in (True, False):
        square = given.var() if centred else (given**2).mean()
        for gain in gains:
            norm = HeldNorm(centred, gain, shift, float((square + epsilon) ** -0.5))
            if np.abs(norm(given) - made).max() <= CLOSE * np.abs(made).max() + 1e-9:
                return norm
    return None
