"""Heads removed from attention that was computed once."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import nn

from regard.inside.ablate.engine import engine
from regard.inside.ablate.shared import SharedAttention, removed_alike
from regard.inside.ablate.variant import HeadAt, Variant
from regard.text import Word


def test_without_a_head_its_part_is_gone() -> None:
    """Two heads of two numbers: c W_O less the rows of W_O that belong to the head."""
    mixed = torch.tensor([[1.0, 2, 3, 5]])
    matrix = torch.tensor([[1.0, 0, 2], [0, 1, 0], [7, 0, 1], [0, 11, 0]])
    output = (mixed @ matrix + 1).unsqueeze(0)
    shared = SharedAttention(nn.Identity(), (output, None), mixed, matrix, 2)
    made = shared.without([(0,), (1,), (0, 1)])
    assert made.tolist() == [[[22, 56, 4]], [[2, 3, 3]], [[1, 1, 1]]]
    plain = SharedAttention(nn.Identity(), mixed.unsqueeze(0), mixed, None, 2)
    assert plain.without([(1,)]).tolist() == [[[1, 2, 0, 0]]]
    with shared.removing([(1,)]):
        found, rest = shared.module(torch.zeros(1))
        assert (found.tolist(), rest) == ([[[2, 3, 3]]], None)
    assert "forward" not in vars(shared.module)


def test_only_zeroed_heads_of_one_attention_share_it(trials: dict[str, Any]) -> None:
    zero = {"by": "zero"}
    with engine(trials["Llama"]) as running:
        first, other = (Variant((HeadAt("self", 0, head),), how=zero) for head in (0, 3))
        name, heads = removed_alike([first, other], running.places) or ("", [])
        assert name.endswith("layers.0.self_attn")
        assert heads == [(0,), (3,)]
        for odd in (
            Variant((HeadAt("self", 1, 0),), how=zero),
            Variant((HeadAt("self", 0, 0),), how={"by": "mean"}),
            Variant((HeadAt("self", 0, 0),), key=Word("", 1, 2), how={"renormalise": True}),
        ):
            assert removed_alike([first, odd], running.places) is None


@pytest.mark.parametrize("family", ["Llama", "GPT2", "Roberta", "Bart"])
def test_every_family_here_shares_and_one_that_differs_does_not(
    family: str, trials: dict[str, Any]
) -> None:
    with engine(trials[family]) as running:
        assert running.shares
    with engine(trials[family]) as running:
        for shared in running.shared.known.values():
            shared.mixed.mul_(2)
        assert not running.shares
        variants = [Variant((head,), how={"by": "zero"}) for head in running.heads[:2]]
        ((_, wary),) = running.run(variants)
    with engine(trials[family]) as running:
        ((_, made),) = running.run(variants)
    torch.testing.assert_close(made, wary, rtol=1e-4, atol=1e-5)
