"""An activation with its gates held is linear, and is told from what it did."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.inside.anatomy.activation import ACTIVATIONS, activation_between

X = torch.tensor([[-2.0, -0.5, 0.0, 0.7, 3.0]])


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_it_is_told_by_what_it_made(name: str) -> None:
    made = ACTIVATIONS[name](X)
    found = activation_between(X, made)
    assert found is not None
    assert found.name == name
    np.testing.assert_allclose(found(X[0].double().numpy()), made[0].double().numpy(), atol=1e-7)


def test_relu_opens_and_shuts() -> None:
    found = activation_between(X, X.relu())
    assert found is not None
    assert found.gates.tolist() == [0, 0, 0, 1, 1]
    assert found.back(np.array([2.0, 3, 5, 7, 11])).tolist() == [0, 0, 0, 7, 11]


def test_what_is_no_activation_is_none() -> None:
    assert activation_between(X, 2 * X) is None
    assert activation_between(X, X[:, :3]) is None


@given(st.lists(st.floats(-30, 30, width=32), min_size=1, max_size=13))
def test_back_is_the_transpose(numbers: list[float]) -> None:
    x = torch.tensor([numbers])
    found = activation_between(x, torch.nn.functional.gelu(x))
    assert found is not None
    direction = np.linspace(-1, 1, len(numbers))
    value = x[0].double().numpy()
    assert found.back(direction) @ value == pytest.approx(
        direction @ (found(value) - found.shift), abs=1e-6
    )
