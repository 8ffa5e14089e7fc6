"""Self-attention: numbers by hand, and what it knows of order (nothing, without positions)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.attention import causal, dot, padding, scaled_dot, self_attention
from regard.errors import ShapeError
from regard.vectors.positions import sinusoidal
from tests.attention.cases import numpy_attend


def test_simple_self_attention_by_hand() -> None:
    """x_1 · x_1 = log 2 and x_1 · x_2 = 0: shares 2/3 and 1/3, of the vectors themselves."""
    length = math.sqrt(math.log(2))
    x = torch.tensor([[length, 0.0], [0.0, length]], dtype=torch.float64)
    context, weights = self_attention(x, need_weights=True)
    assert weights is not None
    np.testing.assert_allclose(weights.cpu(), [[2 / 3, 1 / 3], [1 / 3, 2 / 3]], atol=1e-12)
    np.testing.assert_allclose(context.cpu(), (weights @ x).cpu(), atol=1e-12)
    np.testing.assert_allclose(context[0].cpu(), [2 / 3 * length, 1 / 3 * length], atol=1e-12)


def test_simple_self_attention_has_plain_scores_and_matrices_bring_the_scale() -> None:
    torch.manual_seed(0)
    x, one = torch.randn(5, 4), torch.eye(4)
    simple = self_attention(x).context
    assert torch.equal(simple, self_attention(x, score=dot).context)
    scaled = self_attention(x, one, one, one).context
    torch.testing.assert_close(scaled, self_attention(x, score=scaled_dot).context)
    assert not torch.allclose(simple, scaled)


@given(seed=st.integers(0, 2**31), n=st.integers(1, 6), heads=st.integers(1, 3))
def test_the_formula_with_matrices(seed: int, n: int, heads: int) -> None:
    """Y = [C_1 … C_h] W_O, head by head in NumPy."""
    torch.manual_seed(seed)
    x = torch.randn(2, n, 5, dtype=torch.float64)
    w_q, w_k = torch.randn(2, 5, heads * 3, dtype=torch.float64)
    w_v = torch.randn(5, heads * 2, dtype=torch.float64)
    w_o = torch.randn(heads * 2, 7, dtype=torch.float64)
    parts, shares = [], []
    for head in range(heads):
        keys, values = slice(3 * head, 3 * head + 3), slice(2 * head, 2 * head + 2)
        context, weights = numpy_attend(
            x @ w_q[:, keys], x @ w_k[:, keys], x @ w_v[:, values], causal().dense(n)
        )
        parts.append(context)
        shares.append(weights)
    expected = np.concatenate(parts, -1) @ w_o.cpu().numpy()
    options: dict[str, Any] = {"heads": heads, "mask": causal()}
    fast = self_attention(x, w_q, w_k, w_v, w_o, **options)
    explained = self_attention(x, w_q, w_k, w_v, w_o, need_weights=True, **options)
    np.testing.assert_allclose(fast.context.cpu(), expected, rtol=0, atol=1e-12)
    np.testing.assert_allclose(explained.context.cpu(), expected, rtol=0, atol=1e-12)
    weights = np.stack(shares, 1) if heads > 1 else shares[0]
    assert explained.weights is not None
    np.testing.assert_allclose(explained.weights.cpu(), weights, rtol=0, atol=1e-12)


@pytest.mark.parametrize("need_weights", [False, True])
def test_a_mask_of_the_batch_holds_for_every_head(need_weights: bool) -> None:
    """Also where batch and heads are as many: there a missing axis would go unseen."""
    torch.manual_seed(0)
    x = torch.randn(2, 5, 6)
    lengths = torch.tensor([2, 5])
    got = self_attention(x, heads=2, mask=padding(lengths), need_weights=need_weights).context
    alone = self_attention(x[:1, :2], heads=2).context
    torch.testing.assert_close(got[:1, :2], alone)
    torch.testing.assert_close(got[1], self_attention(x[1], heads=2).context)


seeds = st.integers(0, 2**31)


@given(seed=seeds, n=st.integers(2, 7), simple=st.booleans(), heads=st.sampled_from([1, 2]))
def test_shuffled_words_give_shuffled_outputs(seed: int, n: int, simple: bool, heads: int) -> None:
    torch.manual_seed(seed)
    x = torch.randn(n, 4, dtype=torch.float64)
    matrices = () if simple else torch.randn(4, 4, 4, dtype=torch.float64).unbind()
    order = torch.randperm(n)
    context, weights = self_attention(x, *matrices, heads=heads, need_weights=True)
    shuffled, shuffled_weights = self_attention(x[order], *matrices, heads=heads, need_weights=True)
    torch.testing.assert_close(shuffled, context[order], rtol=0, atol=1e-12)
    assert weights is not None
    torch.testing.assert_close(
        shuffled_weights, weights[..., order, :][..., order], rtol=0, atol=1e-12
    )


def test_positions_tell_two_equal_words_apart() -> None:
    """The cat sat on the mat: both "the" have one vector, and without positions one output."""
    torch.manual_seed(0)
    the, cat, sat, on, mat = torch.randn(5, 8)
    x = torch.stack([the, cat, sat, on, the, mat])
    without = self_attention(x).context
    torch.testing.assert_close(without[0], without[4])
    placed = self_attention(x + sinusoidal(6, 8)).context
    assert (placed[0] - placed[4]).abs().max() > 0.1


def test_empty_text() -> None:
    x = torch.ones(2, 0, 4)
    assert self_attention(x).context.shape == (2, 0, 4)
    assert self_attention(x, heads=2, need_weights=True).context.shape == (2, 0, 4)


def test_errors() -> None:
    x = torch.ones(3, 4)
    with pytest.raises(ShapeError, match=r"W_Q must be .* = \(4, outputs\), got \(5, 2\)"):
        self_attention(x, torch.ones(5, 2))
    with pytest.raises(ShapeError, match=r"W_V must be .* = \(4, outputs\), got \(4,\)"):
        self_attention(x, None, None, torch.ones(4))
    with pytest.raises(ShapeError, match=r"W_O must have a row for each number .* 4, got \(3, 4\)"):
        self_attention(x, w_o=torch.ones(3, 4))
    with pytest.raises(ShapeError, match="divide the width: 4 cannot be cut into 3 equ"):
        self_attention(x, heads=3)
    with pytest.raises(ShapeError, match="there must be at least one head, got 0"):
        self_attention(x, heads=0)
    with pytest.raises(ShapeError, match=r"\(..., positions, width\), got \(4,\)"):
        self_attention(x[0], heads=2)
