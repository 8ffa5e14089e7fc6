"""Attention maps computed where you look, against dense weights.

float32 scores of size s are off by about s · 6e-8, and so is a weight, relatively.
"""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import AttentionMap, causal
from regard.errors import MaskError, RegardError, ShapeError
from tests.attention.rulecases import CASES, RuleCase


def close(ours: Tensor | None, theirs: Tensor, most: float = 2e-5) -> None:
    assert ours is not None
    torch.testing.assert_close(ours.double(), theirs, atol=most, rtol=2e-5)


@given(st.sampled_from(CASES))
def test_a_map_answers_like_its_dense_matrix(case: RuleCase) -> None:
    head = case.query.shape[0] - 1
    shown = AttentionMap.from_vectors(
        case.query[head], case.key[-1], **vars(case.rule.of_head(head))
    )
    weights = torch.from_numpy(case.weights[head])
    queries, keys = weights.shape
    close(shown.dense(), weights)
    close(shown[queries - 1], weights[-1])
    close(shown[-1, 0:keys], weights[-1])
    close(shown.block((0, queries), (keys // 2, keys)), weights[:, keys // 2 :])
    close(shown[:, 0], weights[:, 0])
    close(shown.received(), weights.sum(0), 1e-4)
    close(shown.entropy(), torch.special.entr(weights).sum(-1), 1e-4)
    links = shown.top(3)
    close(torch.tensor([link.weight for link in links]), weights.flatten().topk(len(links)).values)
    for link in links:
        assert link.weight == pytest.approx(float(weights[link.query, link.key]), abs=2e-5)
    stored = AttentionMap.from_weights(weights)
    close(stored.pooled(4), shown.pooled(4).double())
    close(stored.pooled(4, "mean"), shown.pooled(4, "mean").double())
    close(stored.received(), shown.received().double(), 1e-4)
    close(shown.difference(stored).dense(), torch.zeros_like(weights))


def test_half_precision_is_computed_in_float32() -> None:
    query, key = torch.randn(7, 16), torch.randn(11, 16)
    for dtype in (torch.float16, torch.bfloat16):
        half = AttentionMap.from_vectors(query.to(dtype), key.to(dtype))
        assert half.dense().dtype == torch.float32
        full = AttentionMap.from_vectors(query.to(dtype).float(), key.to(dtype).float())
        torch.testing.assert_close(half.dense(), full.dense())


def test_a_hundred_thousand_tokens_take_no_matrix() -> None:
    """10^10 weights would be 40 GB; a row, a tile and their log-sum-exp are not."""
    n = 100_000
    generator = torch.Generator().manual_seed(3)
    query, key = torch.randn(5, 8, generator=generator), torch.randn(n, 8, generator=generator)
    shown = AttentionMap.from_vectors(query, key)
    torch.testing.assert_close(shown[2].sum(), torch.tensor(1.0))
    assert shown.pooled(1000).shape == (5, 1000)
    long = AttentionMap.from_vectors(key, key, mask=causal())
    with pytest.raises(RegardError, match=r"100000 x 100000 weights, 37\.3 GiB in float32"):
        long.dense()


def test_tokens_come_along() -> None:
    shown = AttentionMap.from_weights(torch.eye(2), queries=["a", "b"], keys=["c", "d"])
    assert (shown.queries, shown.keys) == (["a", "b"], ["c", "d"])
    assert repr(shown) == "StoredMap(2 queries x 2 keys)"
    assert len(shown) == 2


def test_mistakes() -> None:
    shown = AttentionMap.from_vectors(torch.zeros(3, 2), torch.zeros(5, 2))
    with pytest.raises(RegardError, match="position 3 is outside the map: there are 3, from 0"):
        shown[3]
    with pytest.raises(RegardError, match="plain slices, got a step of 2"):
        shown[::2]
    with pytest.raises(RegardError, match="how must be 'max' or 'mean', got 'sum'"):
        shown.pooled(2, "sum")
    with pytest.raises(RegardError, match="cells must be 1 or more, got 0"):
        shown.pooled(0)
    with pytest.raises(RegardError, match="k must be 1 or more, got 0"):
        shown.top(0)
    with pytest.raises(ShapeError, match="only maps of one shape have a difference"):
        shown.difference(AttentionMap.from_weights(torch.zeros(2, 2)))
    with pytest.raises(ShapeError, match=r"queries \(q, d\) and keys \(k, d\) of one width"):
        AttentionMap.from_vectors(torch.zeros(3, 2), torch.zeros(5, 3))
    with pytest.raises(ShapeError, match=r"a map is \(queries, keys\), got \(2,\)"):
        AttentionMap.from_weights(torch.zeros(2))
    with pytest.raises(MaskError, match="broadcastable"):
        AttentionMap.from_vectors(torch.zeros(3, 2), torch.zeros(5, 2), mask=torch.ones(2, 2) > 0)


def test_a_difference_goes_both_ways() -> None:
    one = AttentionMap.from_weights(torch.tensor([[0.1, 0.8, 0.1], [0.5, 0.25, 0.25]]))
    two = AttentionMap.from_weights(torch.tensor([[0.8, 0.2, 0.0], [0.25, 0.45, 0.3]]))
    change, exact = one.difference(two), torch.float64
    close(change.dense(), torch.tensor([[-0.7, 0.6, 0.1], [0.25, -0.2, -0.05]], dtype=exact))
    found = change.top(3)
    assert [(x.query, x.key) for x in found] == [(0, 0), (0, 1), (1, 0)]
    assert [x.weight for x in found] == pytest.approx([-0.7, 0.6, 0.25])
    close(change.pooled(2), torch.tensor([[-0.7, 0.1], [0.25, -0.05]], dtype=exact))
    close(change.pooled(1, "mean"), torch.zeros(1, 1, dtype=exact))
    close(change.received(), torch.tensor([-0.45, 0.4, 0.05], dtype=exact))
    close(change.entropy(), (one.entropy() - two.entropy()).double())
    assert bool(change.entropy().isfinite().all())
