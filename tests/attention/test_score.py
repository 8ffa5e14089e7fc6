"""Scores against numbers that can be computed by hand, and against NumPy."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.attention import Additive, Bilinear, additive, attend, bilinear, dot, scaled_dot
from regard.errors import ShapeError

Q = torch.tensor([[1.0, 2.0], [0.0, -1.0]])
K = torch.tensor([[3.0, 1.0], [1.0, 1.0], [0.0, 2.0]])


def test_dot_by_hand() -> None:
    assert dot(Q, K).tolist() == [[5, 3, 4], [-1, -1, -2]]


def test_scaled_dot_by_hand() -> None:
    """Width 4: half the dot product."""
    q, k = torch.tensor([[1.0, 2.0, 3.0, 4.0]]), torch.tensor([[1.0, 1.0, 1.0, 1.0]])
    assert scaled_dot(q, k).tolist() == [[5.0]]
    assert scaled_dot(q, k, scale=0.1).item() == pytest.approx(1)


def test_with_keys_of_width_64_the_scale_is_an_eighth() -> None:
    one = torch.ones(1, 64)
    assert dot(one, one).item() == 64
    assert scaled_dot(one, one).item() == 8


def test_bilinear_by_hand() -> None:
    weight = torch.tensor([[0.0, 1.0], [2.0, 0.0]])  # q W = (2 q_2, q_1)
    assert bilinear(Q, K, weight).tolist() == [[13, 5, 2], [-6, -2, 0]]


def test_additive_by_hand() -> None:
    """One hidden unit that adds everything up: tanh(1 + 2 + 3 + 1) and so on."""
    ones = torch.ones(1, 2)
    scores = additive(Q, K, torch.tensor([2.0]), ones, ones)
    expected = [[2 * math.tanh(n) for n in row] for row in ([7, 5, 5], [3, 1, 1])]
    np.testing.assert_allclose(scores.cpu(), expected, rtol=1e-6)


sizes = st.integers(1, 5)


@given(seed=st.integers(0, 2**31), q=sizes, k=sizes, d=sizes, e=sizes, hidden=sizes)
def test_bahdanaus_form_is_the_concatenated_form(
    seed: int, q: int, k: int, d: int, e: int, hidden: int
) -> None:
    """v · tanh(W q + U k) = v · tanh(M [q; k]) with M = [W  U]."""
    random = np.random.default_rng(seed)
    query, key = random.normal(size=(q, d)), random.normal(size=(k, e))
    W, U = random.normal(size=(hidden, d)), random.normal(size=(hidden, e))
    v = random.normal(size=hidden)
    M = np.concatenate([W, U], axis=1)
    expected = [[v @ np.tanh(M @ np.concatenate([a, b])) for b in key] for a in query]
    tensors = [torch.from_numpy(array) for array in (query, key, v, W, U)]
    np.testing.assert_allclose(additive(*tensors), expected, rtol=0, atol=1e-12)


def test_additive_takes_keys_that_were_projected_before() -> None:
    torch.manual_seed(0)
    query, key = torch.randn(2, 3, 5), torch.randn(2, 7, 11)
    W, U, v = torch.randn(13, 5), torch.randn(13, 11), torch.randn(13)
    expected = additive(query, key, v, W, U)
    torch.testing.assert_close(additive(query, key @ U.mT, v, W), expected)
    torch.testing.assert_close(additive(query @ W.mT, key, v, None, U), expected)
    torch.testing.assert_close(additive(query @ W.mT, key @ U.mT, v), expected)


def test_modules_are_their_functions_with_weights_of_their_own() -> None:
    torch.manual_seed(0)
    query, key = torch.randn(2, 3, 5), torch.randn(2, 7, 11)
    by_matrix, by_network = Bilinear(5, 11), Additive(5, 11, 13)
    assert torch.equal(by_matrix(query, key), bilinear(query, key, by_matrix.weight))
    shapes = {name: tuple(p.shape) for name, p in by_network.named_parameters()}
    assert shapes == {"w_query": (13, 5), "w_key": (13, 11), "v": (13,)}
    expected = additive(query, key, by_network.v, by_network.w_query, by_network.w_key)
    assert torch.equal(by_network(query, key), expected)
    assert by_network(query, key).shape == by_matrix(query, key).shape == (2, 3, 7)


def test_modules_learn() -> None:
    query, key = torch.ones(1, 2), torch.ones(3, 2)
    for module in (Bilinear(2, 2), Additive(2, 2, 4)):
        module(query, key).sum().backward()
        assert all(p.grad is not None and p.grad.any() for p in module.parameters())


def test_leading_axes_broadcast() -> None:
    query, key = torch.randn(2, 1, 3, 5), torch.randn(7, 4, 5)
    v, square = torch.randn(6), torch.randn(6, 5)
    assert dot(query, key).shape == (2, 7, 3, 4)
    assert bilinear(query, key, torch.randn(5, 5)).shape == (2, 7, 3, 4)
    assert additive(query, key, v, square, square).shape == (2, 7, 3, 4)


def test_scores_of_the_wrong_width() -> None:
    q, k = torch.ones(3, 4), torch.ones(5, 6)
    with pytest.raises(ShapeError, match=r"W \(query width, key width\) = \(4, 6\), got \(4, 5\)"):
        attend(q, k, k, score=Bilinear(4, 5))
    with pytest.raises(ShapeError, match=r"W \(hidden, query width\) = \(2, 4\), got \(2, 3\)"):
        attend(q, k, k, score=Additive(3, 6, 2))
    with pytest.raises(ShapeError, match=r"U \(hidden, key width\) = \(2, 6\), got \(2, 7\)"):
        attend(q, k, k, score=Additive(4, 7, 2))
    with pytest.raises(ShapeError, match=r"width of v, \(4,\), got 4 and 6; a side that is not"):
        additive(q, k, torch.ones(4))
