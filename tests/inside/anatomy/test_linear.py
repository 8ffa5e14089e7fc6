"""The map of a matrix, forwards and back."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from regard.inside.anatomy.linear import linear, multiplies


class Conv1D(nn.Module):
    """GPT-2's: its matrix is kept turned."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.tensor([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]))
        self.bias = nn.Parameter(torch.tensor([1.0, 0.0, -1.0]))


def test_maps() -> None:
    plain = nn.Linear(2, 3, bias=False)
    found = linear(plain)
    assert found is not None
    x = np.array([0.5, -2.0])
    assert np.allclose(found(x), plain(torch.tensor(x).float()).detach().numpy())
    turned = linear(Conv1D())
    assert turned is not None
    assert turned(np.array([1.0, 1.0])).tolist() == [6.0, 7.0, 8.0]
    assert turned.back(np.array([1.0, 0.0, 1.0])).tolist() == [4.0, 10.0]


def test_other_modules_have_none() -> None:
    assert linear(nn.LayerNorm(3)) is None
    assert not multiplies(nn.Embedding(3, 3))
