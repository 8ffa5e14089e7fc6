"""Module: one of the package's networks, with the weights of a worked example in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeVar

from torch import Tensor, nn

AnyModule = TypeVar("AnyModule", bound=nn.Module)


def filled(module: AnyModule, weights: Mapping[str, Tensor | None]) -> AnyModule:
    """``module`` in float64 and in evaluation, its parameters replaced by name; None: zeros."""
    module = module.double().eval().requires_grad_(False)
    for name, value in weights.items():
        parameter = module.get_parameter(name)
        parameter.data = parameter.data.zero_() if value is None else value.contiguous()
    return module
