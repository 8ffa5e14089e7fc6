"""Linear: the map of a module that multiplies by one matrix."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from torch import Tensor, nn

from regard.trace import Array


@dataclass(frozen=True)
class LinearMap:
    """x → matrix · x + shift."""

    matrix: Array
    """(outputs, inputs)"""
    shift: Array

    def __call__(self, x: Array) -> Array:
        made: Array = self.matrix @ x + self.shift
        return made

    def back(self, direction: Array) -> Array:
        """d with d · x = direction · (matrix x), for every x."""
        found: Array = direction @ self.matrix
        return found


def multiplies(module: nn.Module) -> bool:
    """Whether a module multiplies by one matrix."""
    return isinstance(module, nn.Linear) or type(module).__name__ == "Conv1D"


def linear(module: nn.Module) -> LinearMap | None:
    """The map of ``module``; None if it does not multiply by one matrix."""
    weight, bias = getattr(module, "weight", None), getattr(module, "bias", None)
    if not multiplies(module) or not isinstance(weight, Tensor):
        return None
    matrix = numbers(weight)
    matrix = matrix if isinstance(module, nn.Linear) else matrix.T  # GPT-2 keeps it turned
    return LinearMap(matrix, np.zeros(len(matrix)) if bias is None else numbers(bias))


def numbers(tensor: Tensor) -> Array:
    """A tensor's numbers in float64."""
    found: Array = tensor.detach().double().cpu().numpy()
    return found
