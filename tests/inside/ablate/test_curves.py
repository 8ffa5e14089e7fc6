"""Activations in one pass: the same numbers, and the modules as they were."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from regard.inside.ablate.curves import KnownCurves, known_curve
from regard.inside.anatomy.activation import ACTIVATIONS


class NewGELU(nn.Module):
    """gelu by tanh, written out."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        inner = (2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)
        return 0.5 * x * (1 + torch.tanh(inner))


class HalfGELU(nn.Module):
    """Of the name, and another function."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 0.5 * x


def test_a_curve_is_known_by_its_numbers() -> None:
    assert known_curve(NewGELU()) is ACTIVATIONS["gelu (by tanh)"]
    assert known_curve(HalfGELU()) is None
    assert known_curve(nn.GELU()) is None, "it is one function already"
    assert known_curve(nn.Linear(2, 3)) is None


def test_inside_the_block_alone() -> None:
    network: Any = nn.Sequential(NewGELU(), HalfGELU())
    x = torch.linspace(-3, 3, 7)
    own = network(x)
    with KnownCurves(network).fused():
        assert "forward" in vars(network[0])
        torch.testing.assert_close(network(x), own)
    assert torch.equal(network(x), own)
