"""Curves: activations that are written as several products run as the one function they are.

GPT-2's gelu is eight passes over the widest numbers of a layer, in PyTorch one. A module is taken
for a known function if it gives the same numbers, to rounding.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

import torch
from torch import Tensor, nn

from regard.inside.ablate.blocks import standing_in
from regard.inside.anatomy.activation import ACTIVATIONS

NAMED = re.compile("gelu|silu|swish|relu", re.IGNORECASE)
"""Names of classes that may be one of PyTorch's functions."""
REACH = 12.0
"""Beyond it all of them are flat, or straight."""


class KnownCurves:
    """The activations of a network that are one of PyTorch's functions."""

    def __init__(self, network: nn.Module) -> None:
        found = ((module, known_curve(module)) for module in network.modules())
        self.known = [(module, curve) for module, curve in found if curve is not None]

    @contextmanager
    def fused(self) -> Iterator[None]:
        """Inside the block they are computed by it."""
        with ExitStack() as stack:
            for module, curve in self.known:
                if "forward" not in vars(module):
                    stack.enter_context(standing_in(module, curve))
            yield


def known_curve(module: nn.Module) -> Callable[[Tensor], Tensor] | None:
    """The function of PyTorch that ``module`` computes in other words; None if there is none."""
    name = "" if type(module).__module__.startswith("torch.") else curve_name(module)
    return ACTIVATIONS[name] if name else None


def curve_name(module: nn.Module) -> str:
    """The function of PyTorch that ``module`` computes, in whatever words; empty if none."""
    has_more = next(module.parameters(), None) is not None or next(module.children(), None)
    if has_more or not NAMED.search(type(module).__name__):
        return ""
    x = torch.linspace(-REACH, REACH, 4001)
    with torch.inference_mode():
        made = module(x)
        for name, curve in ACTIVATIONS.items():
            if torch.allclose(curve(x), made, rtol=1e-5, atol=1e-6):
                return name
    return ""
