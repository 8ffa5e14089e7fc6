"""Weights at chosen pairs, and what a query sees."""

from __future__ import annotations

from dataclasses import replace

import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.attention import Mask
from regard.attention.rule import Rule
from regard.attention.statistics import statistics
from regard.attention.wanted import Wanted
from regard.inside.heads.entries import seen_counts, visible, weights_between, without_keys
from regard.inside.observe.layer import Item
from tests.inside.heads.cases import Case, cases


@given(cases(), st.integers(0, 99))
def test_weights_at_chosen_pairs(case: Case, seed: int) -> None:
    item, n = case.item, len(case.tokens)
    lse = statistics(item.query, item.key, item.rule, Wanted()).lse
    generator = torch.Generator().manual_seed(seed)
    rows = torch.randint(-1, n, (3, 2), generator=generator)
    columns = torch.randint(-1, n, (3, 7), generator=generator)
    found = weights_between(item, lse, rows, columns)
    seen = visible(item, rows, columns).expand_as(found)
    for t in range(3):
        for r, i in enumerate(rows[t].tolist()):
            for c, j in enumerate(columns[t].tolist()):
                real = i >= 0 and j >= 0
                expected = case.weights[:, i, j] if real else torch.zeros(len(found))
                torch.testing.assert_close(
                    found[:, t, r, c].double(), expected.double(), atol=2e-5, rtol=2e-5
                )
                assert bool(seen[-1, t, r, c]) == (real and bool(case.seen[-1, i, j]))


@given(cases())
def test_how_many_keys_a_query_sees(case: Case) -> None:
    among = torch.tensor([i % 3 == 0 for i in range(len(case.tokens))])
    n = len(case.tokens)
    assert torch.equal(seen_counts(case.item).expand(1, n)[0], case.seen[0].sum(-1).float())
    counted = seen_counts(case.item, among).expand(1, n)[0]
    assert torch.equal(counted, (case.seen[0] & among).sum(-1).float())


def test_a_mask_of_queries_is_no_mask_of_keys() -> None:
    rows = torch.tensor([True, True, True, False]).view(1, 4, 1)
    q, k, places = torch.randn(2, 4, 3), torch.randn(2, 4, 3), torch.arange(4)
    item = Item(q, k, Rule(1.0, Mask(allowed=rows)), places, places)
    assert seen_counts(item).tolist() == [[4, 4, 4, 0]]
    assert seen_counts(replace(item, rule=Rule(1.0, Mask(allowed=rows.mT)))).tolist() == [[3] * 4]


@given(cases())
def test_without_some_keys_rows_are_shared_out_anew(case: Case) -> None:
    dropped = torch.tensor([i % 2 == 0 for i in range(len(case.tokens))])
    item = without_keys(case.item, dropped)
    found = statistics(item.query, item.key, item.rule, Wanted(top=len(case.tokens)))
    left = case.weights.masked_fill(dropped, 0)
    total = left.sum(-1, keepdim=True)
    expected = torch.where(total > 1e-9, left / total, 0)
    assert found.top_weights is not None
    enough = (total > 1e-6).squeeze(-1)
    torch.testing.assert_close(
        found.top_weights.double()[enough],
        expected.sort(-1, descending=True).values[enough],
        atol=1e-4,
        rtol=1e-4,
    )
