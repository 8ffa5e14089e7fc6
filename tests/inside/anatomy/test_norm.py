"""What a norm computes, told from what it did; with its scale held it is linear."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from regard.inside.anatomy.norm import held, is_norm

D = 7


def layer_norm() -> nn.Module:
    norm = nn.LayerNorm(D)
    nn.init.normal_(norm.weight)
    nn.init.normal_(norm.bias)
    return norm


def rms_norm() -> nn.Module:
    norm = nn.RMSNorm(D, eps=1e-6)
    nn.init.normal_(norm.weight)
    return norm


@pytest.mark.parametrize(("make", "centred"), [(layer_norm, True), (rms_norm, False)])
def test_the_formula_and_the_way_back(make: object, centred: bool) -> None:
    torch.manual_seed(3)
    assert callable(make)
    module, x = make(), torch.randn(D)
    made = module(x).detach().double().numpy()
    norm = held(module, x.double().numpy(), made)
    assert is_norm(module)
    assert norm is not None
    assert norm.centred is centred
    assert np.allclose(norm(x.double().numpy()), made, atol=1e-6)
    direction, other = np.arange(D) - 2.0, np.linspace(-1, 3, D)
    assert norm.back(direction) @ other == pytest.approx(direction @ (norm(other) - norm.shift))


def test_a_gain_of_one_plus_the_weight() -> None:
    """Gemma's: y = x / rms · (1 + w), by hand."""
    module = nn.RMSNorm(2, eps=0.0)
    module.weight.data = torch.tensor([0.5, 0.0])
    x = np.array([3.0, 4.0])  # mean square 12.5
    norm = held(module, x, x / np.sqrt(12.5) * np.array([1.5, 1.0]))
    assert norm is not None
    assert norm.gain.tolist() == [1.5, 1.0]


def test_what_is_no_norm() -> None:
    assert held(nn.LayerNorm(2), np.array([1.0, 2.0]), np.array([7.0, 8.0])) is None
    assert not is_norm(nn.Linear(2, 2))
