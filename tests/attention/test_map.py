"""Attention maps computed where you look, and their statistics, against dense weights.

float32 scores of size s are off by about s · 6e-8, and so is a weight, relatively.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import regard.attention.statistics as module
from regard.attention import AttentionMap, Mask, causal, padding, window
from regard.attention.statistics import PoolGrid, Rule, largest, statistics
from regard.errors import MaskError, RegardError, ShapeError


class Case(NamedTuple):
    query: Tensor
    key: Tensor
    rule: Rule
    weights: Tensor
    """(heads, queries, keys) in float64, by the definition."""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Grouped heads, fewer or more queries than keys, every rule."""
    key_heads, groups = draw(st.sampled_from([(1, 1), (1, 3), (2, 1), (2, 3)]))
    queries, keys, width = draw(st.integers(1, 23)), draw(st.integers(1, 23)), 5
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    size = draw(st.sampled_from([1.0, 3.0]))
    query = torch.randn(key_heads * groups, queries, width, generator=generator) * size
    key = torch.randn(key_heads, keys, width, generator=generator) * size
    mask = draw(
        st.sampled_from(
            [
                None,
                causal(),
                window(3),
                causal() & window(2),
                padding(torch.tensor(keys // 2), keys),
                Mask(allowed=torch.rand(queries, keys, generator=generator) < 0.5),
            ]
        )
    )
    bias = torch.randn(1, queries, keys, generator=generator) if draw(st.booleans()) else None
    if bias is not None and draw(st.booleans()):
        bias[..., 0] = -math.inf
    rule = Rule(
        draw(st.sampled_from([1.0, width**-0.5])),
        mask,
        bias,
        draw(st.sampled_from([None, 5.0])),
    )
    return Case(query, key, rule, dense(query, key, rule))


def dense(query: Tensor, key: Tensor, rule: Rule) -> Tensor:
    """The weights written straight from their definition, in float64."""
    groups = query.shape[0] // key.shape[0]
    scores = query.double() @ key.double().repeat_interleave(groups, 0).mT * rule.scale
    if rule.softcap:
        scores = rule.softcap * (scores / rule.softcap).tanh()
    if rule.bias is not None:
        scores = scores + rule.bias
    if rule.mask is not None:
        allowed = rule.mask.dense(query.shape[1], key.shape[1])
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores.softmax(-1).nan_to_num(0)


def close(ours: Tensor | None, theirs: Tensor, most: float = 2e-5) -> None:
    assert ours is not None
    torch.testing.assert_close(ours.double(), theirs, atol=most, rtol=2e-5)


@given(cases(), st.integers(1, 9), st.integers(1, 9))
def test_one_pass_gives_every_statistic(case: Case, top: int, cells: int) -> None:
    found = statistics(
        case.query, case.key, case.rule, top=top, entropy=True, received=True, cells=cells
    )
    weights = case.weights
    k = min(top, weights.shape[-1])
    values = weights.topk(k).values
    close(found.top_weights, values)
    assert found.top_keys is not None
    close(weights.gather(-1, found.top_keys), values)
    close(found.entropy, torch.special.entr(weights).sum(-1), 1e-4)
    close(found.received, weights.sum(-2), 1e-4)
    grid = PoolGrid(*weights.shape[1:], cells)
    for pool, reduce in ((found.pooled_max, torch.amax), (found.pooled_mean, torch.mean)):
        expected = [
            [reduce(tile, dim=(-1, -2)) for tile in strip.split(grid.columns, -1)]
            for strip in weights.split(grid.rows, -2)
        ]
        close(pool, torch.stack([torch.stack(row, -1) for row in expected], -2))


@given(cases(), st.integers(1, 7))
def test_small_blocks_change_nothing(case: Case, numbers: int) -> None:
    whole = statistics(case.query, case.key, case.rule, top=3, entropy=True, received=True, cells=4)
    before, module.BLOCK_NUMBERS = module.BLOCK_NUMBERS, numbers
    try:
        parts = statistics(
            case.query, case.key, case.rule, top=3, entropy=True, received=True, cells=4
        )
    finally:
        module.BLOCK_NUMBERS = before
    for name in ("lse", "top_weights", "entropy", "received", "pooled_max", "pooled_mean"):
        torch.testing.assert_close(getattr(parts, name), getattr(whole, name), rtol=2e-5, atol=2e-5)


@given(cases())
def test_a_map_answers_like_its_dense_matrix(case: Case) -> None:
    rule, bias = case.rule, case.rule.bias
    head = case.query.shape[0] - 1
    shown = AttentionMap.from_vectors(
        case.query[head],
        case.key[-1],
        scale=rule.scale,
        mask=rule.mask,
        bias=None if bias is None else bias[0],
        softcap=rule.softcap,
    )
    weights = case.weights[head]
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


@given(st.integers(1, 900), st.integers(1, 5), st.integers(0, 99), st.booleans())
def test_the_largest_of_a_long_row(n: int, k: int, seed: int, tied: bool) -> None:
    row = torch.rand(3, n, generator=torch.Generator().manual_seed(seed))
    row = (row * 3).floor() if tied else row
    values, places = largest(row, k)
    torch.testing.assert_close(values, row.topk(min(k, n)).values)
    torch.testing.assert_close(row.gather(-1, places), values)
    assert all(len(set(p)) == len(p) for p in places.tolist())


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
    with pytest.raises(ShapeError, match="a multiple of key heads, got 3 and 2"):
        statistics(torch.zeros(3, 4, 2), torch.zeros(2, 4, 2), Rule(1.0))


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
