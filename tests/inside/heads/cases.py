"""Hypothesis: texts with repeated tokens, and layers that read them."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Mask, causal, window
from regard.attention.rule import Rule
from regard.inside.observe.layer import Item
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
