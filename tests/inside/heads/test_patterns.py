"""The kinds of heads: their sums against loops in plain Python, and what names a head."""

from __future__ import annotations

import math
from dataclasses import replace

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

import regard.inside.heads.entries as entries
import regard.inside.heads.patterns as patterns
from regard.attention.rule import Rule
from regard.attention.statistics import statistics
from regard.attention.wanted import Wanted
from regard.inside.heads.kinds import Tally, scored
from regard.inside.heads.patterns import Patterns, repeated
from regard.inside.observe.layer import Item
from regard.pieces.heads import HEAD_KINDS
from tests.inside.heads.cases import Case, cases, made_tokens, targets


def reference(case: Case) -> dict[str, tuple[float, float, int]]:
    """Score, chance and count of each kind, of the last head."""
    weights, seen = case.weights[-1], case.seen[-1]
    n = len(weights)
    found = {}
    for kind in HEAD_KINDS[:-1]:
        score = chance = 0.0
        count = 0
        for i in range(n):
            visible_keys = {j for j in range(n) if seen[i, j]}
            aims = targets(kind, i, case.tokens) & visible_keys
            always = kind in ("first", "separator")
            if not aims or (not always and aims == visible_keys):
                continue
            score += sum(float(weights[i, j]) for j in aims)
            chance += len(aims) / len(visible_keys)
            count += 1
        found[kind] = score, chance, count
    score, count = 0.0, 0
    for i in range(n):
        keys = int(seen[i].sum())
        if keys > 1:
            score += float(torch.special.entr(weights[i]).sum()) / math.log(keys)
            count += 1
    found["broad"] = score, 0.0, count
    return found


def check(sums: Tally, expected: dict[str, tuple[float, float, int]]) -> None:
    for k, kind in enumerate(HEAD_KINDS):
        got = sums.score[-1, k], sums.chance[-1, k], sums.count[-1, k]
        assert [float(x) for x in got] == pytest.approx(expected[kind], abs=3e-5), kind


@given(cases(), st.integers(1, 40))
def test_sums_of_short_and_long_texts_are_those_of_the_definition(case: Case, room: int) -> None:
    expected = reference(case)
    item = case.item
    check(Patterns(case.tokens).tally(item), expected)
    found = statistics(item.query, item.key, item.rule, Wanted(entropy=True, received=True))
    for module in (patterns, entries):
        module.MOST = room  # type: ignore[attr-defined]
    try:
        if item.query.shape[0] * len(case.tokens) ** 2 > room:
            check(Patterns(case.tokens).tally(item, found), expected)
    finally:
        for module in (patterns, entries):
            module.MOST = 1 << 22  # type: ignore[attr-defined]


def test_a_layer_of_which_only_weights_are_known() -> None:
    case_weights = torch.eye(5)[[0, 0, 1, 2, 3]].repeat(3, 1, 1)
    logs = case_weights.log().clamp_min(-1e30)
    nothing = torch.zeros(3, 5, 1)
    rows = torch.arange(5)
    item = Item(nothing, nothing, Rule(1.0, None, logs), rows, rows, case_weights)
    tokens = made_tokens([5, 6, 7, 8, 9])
    sums = Patterns(tokens).tally(item)
    # Each query sees one key only, so that no pattern but the sink could fail to hold.
    assert sums.count[0].tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0]
    uneven = torch.full((3, 5, 5), 0.1) + 0.5 * torch.eye(5)
    item = replace(item, rule=Rule(1.0, None, uneven.log()), weights=uneven)
    assert scored(Patterns(tokens).tally(item))[0].scores["same"] == pytest.approx(0.6)


def test_places_of_repeated_tokens() -> None:
    ids = [5, 6, 5, 7, 5, 6, 99, 99, 8]
    groups = list(repeated(ids, [i == 99 for i in ids]))
    assert [g.tolist() for g in groups] == [[[1, 5]], [[0, 2, 4]]]
    (filled,) = repeated([5] * 9 + [6] * 10, [False] * 19)
    assert filled.tolist() == [[*range(9), -1], [*range(9, 19)]]
