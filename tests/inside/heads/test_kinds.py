"""Kinds of heads, from their sums."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.attention.rule import Rule
from regard.inside.heads.kinds import scored
from regard.inside.heads.patterns import Patterns
from regard.inside.observe.layer import Item
from regard.pieces.pieces import Pieces
from tests.inside.heads.cases import made_tokens


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
