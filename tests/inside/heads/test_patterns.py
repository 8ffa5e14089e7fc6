"""The kinds of heads: their sums against loops in plain Python, and what names a head."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

import regard.inside.heads.entries as entries
import regard.inside.heads.patterns as patterns
from regard.attention import Mask, causal, window
from regard.attention.rule import Rule
from regard.attention.statistics import statistics
from regard.attention.wanted import Wanted
from regard.inside.heads.entries import seen_counts, visible, weights_between, without_keys
from regard.inside.heads.kinds import Tally, scored
from regard.inside.heads.patterns import Patterns, repeated
from regard.inside.observe.layer import Item
from regard.pieces.heads import HEAD_KINDS
from regard.pieces.pieces import Pieces


def made_tokens(ids: list[int], separators: tuple[int, ...] = ()) -> Pieces:
    n = len(ids)
    marks = [i in separators and i > 0 for i in range(n)]
    return replace(
        Pieces.plain([str(i) for i in ids], ids), special=[i == 99 for i in ids], separators=marks
    )


class Case(NamedTuple):
    item: Item
    tokens: Pieces
    weights: Tensor
    """(heads, n, n) in float64, by the definition."""
    seen: Tensor
    """(heads, n, n)"""


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Grouped heads, every rule, few different tokens, a special one among them."""
    n, key_heads, groups, width = draw(st.integers(1, 19)), 2, draw(st.sampled_from([1, 3])), 5
    generator = torch.Generator().manual_seed(draw(st.integers(0, 999)))
    query = torch.randn(key_heads * groups, n, width, generator=generator) * 2
    key = torch.randn(key_heads, n, width, generator=generator)
    some = torch.rand(1, n, n, generator=generator) < 0.6
    mask = draw(
        st.sampled_from([None, causal(), window(4), causal() & window(5), Mask(allowed=some)])
    )
    bias = torch.randn(1, n, n, generator=generator) if draw(st.booleans()) else None
    rule = Rule(0.5, mask, bias, draw(st.sampled_from([None, 3.0])))
    scores = query.double() @ key.double().repeat_interleave(groups, 0).mT * rule.scale
    if rule.softcap:
        scores = rule.softcap * (scores / rule.softcap).tanh()
    scores = scores if bias is None else scores + bias
    seen = torch.ones(1, n, n, dtype=torch.bool) if mask is None else mask.dense(n).view(1, n, n)
    weights = scores.masked_fill(~seen, -math.inf).softmax(-1).nan_to_num(0)
    ids = draw(st.lists(st.sampled_from([5, 6, 7, 99]), min_size=n, max_size=n))
    marks = tuple(draw(st.sets(st.integers(0, n - 1), max_size=3)))
    rows = torch.arange(n)
    item = Item(query, key, rule, rows, rows)
    return Case(item, made_tokens(ids, marks), weights, seen.expand(len(query), n, n))


def targets(kind: str, i: int, tokens: Pieces) -> set[int]:
    """The keys that the pattern is about, written straight from docs/heads.md."""
    n, ids = len(tokens), tokens.ids
    own = tokens.special[i]
    return {
        "previous": {i - 1},
        "next": {i + 1},
        "same": {i},
        "first": {0} if i > 0 else set(),
        "separator": {j for j in range(n) if tokens.separators[j]},
        "repeat": {j for j in range(n) if j != i and ids[j] == ids[i] and not own},
        "induction": {j + 1 for j in range(i) if ids[j] == ids[i] and j + 1 < i and not own},
        "local": set(range(i - 3, i + 4)),
    }[kind]


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


def head_of(weights: Tensor, tokens: Pieces) -> str:
    rows = torch.arange(len(weights))
    nothing = torch.zeros(1, len(weights), 1)
    rule = Rule(1.0, None, weights.clamp_min(1e-9).log().unsqueeze(0))
    return scored(Patterns(tokens).tally(Item(nothing, nothing, rule, rows, rows)))[0].kind


def test_the_kind_of_a_head() -> None:
    n = 23
    tokens = made_tokens([*range(11), *range(11), 5], separators=(4, 9, 15, 21))
    even = torch.full((n, n), 1 / n)

    def mostly(targets: Tensor, share: float = 0.8) -> Tensor:
        targets = targets / targets.sum(-1, keepdim=True).clamp_min(1)
        return share * targets + (1 - share) * even

    i, j = torch.meshgrid(torch.arange(n), torch.arange(n), indexing="ij")
    ids = torch.tensor(tokens.ids)
    same = (ids[i] == ids[j]) & (i != j)
    after = torch.nn.functional.pad(ids, (1, 0), value=-1)[:-1]
    assert head_of(mostly((j == i - 1).float()), tokens) == "previous"
    assert head_of(mostly((j == i + 1).float()), tokens) == "next"
    assert head_of(mostly((j == i).float()), tokens) == "same"
    assert head_of(mostly((j == 0).float()), tokens) == "first"
    assert (
        head_of(mostly(torch.tensor(tokens.separators).float().expand(n, n)), tokens) == "separator"
    )
    assert head_of(mostly(same.float()), tokens) == "repeat"
    assert head_of(mostly(((after[j] == ids[i]) & (j < i)).float()), tokens) == "induction"
    assert head_of(mostly(((i - j).abs() <= 2).float()), tokens) == "local"
    assert head_of(even, tokens) == "broad"
    far = (j == (7 * i + 11) % n) & ((i - j).abs() > 3) & ~same & ~torch.tensor(tokens.separators)
    assert head_of(mostly(far.float(), 0.75), tokens) == "mixed"


def test_one_query_names_no_head() -> None:
    """Two equal tokens: a strong link between them is a score, not a kind."""
    weights = torch.full((5, 5), 0.01)
    weights[3, 1] = 1.0
    tokens = made_tokens([1, 2, 3, 2, 4])
    weights /= weights.sum(-1, keepdim=True)
    assert head_of(weights, tokens) != "repeat"


def test_places_of_repeated_tokens() -> None:
    ids = [5, 6, 5, 7, 5, 6, 99, 99, 8]
    groups = list(repeated(ids, [i == 99 for i in ids]))
    assert [g.tolist() for g in groups] == [[[1, 5]], [[0, 2, 4, -1]]]
