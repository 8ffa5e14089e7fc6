"""Statistics of weights that are never kept, against the weights themselves."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import regard.attention.statistics as module
from regard.attention import Mask, causal
from regard.attention.rule import Rule
from regard.attention.statistics import in_blocks, largest, statistics
from regard.attention.wanted import EVERYTHING, PoolGrid, Statistics, Wanted
from regard.errors import ShapeError
from tests.attention.rulecases import CASES, RuleCase


def close(ours: Tensor | None, theirs: Tensor, most: float) -> None:
    assert ours is not None
    torch.testing.assert_close(ours.double(), theirs, atol=most, rtol=most)


def check(found: Statistics, case: RuleCase, wanted: Wanted) -> None:
    """Every statistic that is wanted is what the weights themselves say."""
    weights, most = torch.from_numpy(case.weights), case.tolerance
    close(found.lse, torch.from_numpy(case.lse), most)
    if wanted.top:
        values = weights.topk(min(wanted.top, weights.shape[-1])).values
        close(found.top_weights, values, most)
        assert found.top_keys is not None
        close(weights.gather(-1, found.top_keys), values, most)
    if wanted.entropy:
        close(found.entropy, torch.special.entr(weights).sum(-1), 20 * most)
    if wanted.received:
        close(found.received, weights.sum(-2), 20 * most)
    grid = wanted.grid(*weights.shape[-2:])
    if grid is not None:
        for pool, reduce in ((found.pooled_max, torch.amax), (found.pooled_mean, torch.mean)):
            close(pool, pooled(weights, grid, reduce), most)


def pooled(weights: Tensor, grid: PoolGrid, reduce: object) -> Tensor:
    """Cell by cell."""
    cells = [
        [reduce(tile, dim=(-1, -2)) for tile in strip.split(grid.columns, -1)]  # type: ignore[operator]
        for strip in weights.split(grid.rows, -2)
    ]
    return torch.stack([torch.stack(row, -1) for row in cells], -2)


@given(st.sampled_from(CASES), st.integers(0, 9), st.integers(0, 9))
def test_one_pass_gives_every_statistic(case: RuleCase, top: int, cells: int) -> None:
    wanted = Wanted(top, entropy=True, received=True, cells=cells)
    check(statistics(case.query, case.key, case.rule, wanted), case, wanted)
    check(in_blocks(case.query, case.key, case.rule, wanted), case, wanted)


@given(st.sampled_from(CASES), st.integers(1, 7))
def test_small_blocks_change_nothing(case: RuleCase, numbers: int) -> None:
    before, module.BLOCK_NUMBERS = module.BLOCK_NUMBERS, numbers
    try:
        found = in_blocks(case.query, case.key, case.rule, EVERYTHING)
    finally:
        module.BLOCK_NUMBERS = before
    check(found, case, EVERYTHING)


@pytest.mark.parametrize("name", ["top", "entropy", "received", "cells"])
def test_what_is_not_wanted_is_none(name: str) -> None:
    case = CASES[0]
    wanted = Wanted.of({name: 1})
    parts = {"top": {"top_weights", "top_keys"}, "cells": {"pooled_max", "pooled_mean"}}
    for found in (
        statistics(case.query, case.key, case.rule, wanted),
        in_blocks(case.query, case.key, case.rule, wanted),
    ):
        there = {field for field, tensor in found._asdict().items() if tensor is not None}
        assert there == {"lse"} | parts.get(name, {name})


@given(st.integers(1, 900), st.integers(1, 5), st.integers(0, 99), st.booleans())
def test_the_largest_of_a_long_row(n: int, k: int, seed: int, tied: bool) -> None:
    row = torch.rand(3, n, generator=torch.Generator().manual_seed(seed))
    row = (row * 3).floor() if tied else row
    values, places = largest(row, k)
    torch.testing.assert_close(values, row.topk(min(k, n)).values)
    torch.testing.assert_close(row.gather(-1, places), values)
    assert all(len(set(p)) == len(p) for p in places.tolist())


def test_no_keys_at_all() -> None:
    found = statistics(torch.ones(2, 3, 5), torch.ones(1, 0, 5), Rule(1.0, causal()), EVERYTHING)
    assert (found.lse == -math.inf).all()
    assert found.entropy is not None
    assert not found.entropy.any()
    assert found.received is not None
    assert np.array_equal(found.received.shape, (2, 0))


def test_heads_that_cannot_be_shared() -> None:
    with pytest.raises(ShapeError, match="a multiple of key heads, got 3 and 2"):
        statistics(torch.zeros(3, 4, 2), torch.zeros(2, 4, 2), Rule(1.0), Wanted())


def test_the_entropy_of_a_query_that_is_no_number_is_none_either() -> None:
    query, key = torch.randn(1, 4, 8), torch.randn(1, 7, 8)
    query[0, 1, 3] = math.nan
    mask = Mask(allowed=torch.ones(4, 7, dtype=torch.bool).index_fill(0, torch.tensor(3), False))
    for of in (in_blocks, statistics):
        found = of(query, key, Rule(0.3, mask), Wanted(entropy=True))
        assert found.entropy is not None
        assert found.entropy[0].isnan().tolist() == [False, True, False, False]
        assert float(found.entropy[0, 3]) == 0
