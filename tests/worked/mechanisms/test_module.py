"""Module: the package's network gets the weights of the example, whatever their size."""

from __future__ import annotations

import torch

from regard.worked.mechanisms.module import filled


def test_parameters_are_replaced_and_none_is_zeros() -> None:
    module = filled(torch.nn.Linear(2, 3), {"weight": torch.ones(5, 2).double(), "bias": None})
    assert module.weight.shape == (5, 2)
    assert module.weight.dtype == torch.float64
    assert not module.bias.any()
    assert not module.weight.requires_grad
    assert not module.training
