"""What is checked of every observation, by hand."""

from __future__ import annotations

from dataclasses import replace

import pytest
import torch
from torch import nn

from regard.attention.mask import Mask
from regard.attention.rule import Rule
from regard.inside.observe import verify
from regard.inside.observe.call import Call

BATCH, HEADS, KEY_HEADS, QUERIES, KEYS, WIDTH, VALUES = 2, 6, 3, 7, 11, 5, 13


def call(mask: Mask | None = None, bias: torch.Tensor | None = None) -> Call:
    """Grouped attention whose context PyTorch computed."""
    torch.manual_seed(0)
    query = torch.randn(BATCH, HEADS, QUERIES, WIDTH)
    key, value = (torch.randn(BATCH, KEY_HEADS, KEYS, width) for width in (WIDTH, VALUES))
    allowed = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    if mask is not None:
        allowed = mask.dense(QUERIES, KEYS)
    added = torch.zeros(HEADS, QUERIES, KEYS) if bias is None else bias
    context = nn.functional.scaled_dot_product_attention(
        query,
        key.repeat_interleave(2, 1),
        value.repeat_interleave(2, 1),
        added.masked_fill(~allowed, -torch.inf).expand(BATCH, -1, -1, -1),
        scale=0.3,
    )
    return Call(query, key, Rule(0.3, mask, bias), value=value, context=context)


@pytest.mark.parametrize("mask", [None, Mask(causal=True), Mask(before=2, after=1)])
def test_queries_and_keys_explain_what_was_mixed(mask: Mask | None) -> None:
    made = call(mask, torch.randn(HEADS, QUERIES, KEYS))
    assert verify.explained(made)
    assert verify.explained(replace(made, context=None)), "nothing to compare with"


def test_what_they_do_not_explain() -> None:
    made = call()
    assert made.context is not None
    wrong = made.context.clone()
    wrong[1, 4, -1, 3] += 0.1
    assert not verify.explained(replace(made, context=wrong)), "the last row is looked at"
    assert not verify.explained(replace(made, context=made.context.transpose(1, 2)))
    assert not verify.explained(replace(made, rule=Rule(0.4)))
    assert not verify.explained(replace(made, rule=Rule(0.3, Mask(causal=True))))
    uniform = torch.full((BATCH, HEADS, QUERIES, KEYS), 1 / KEYS)
    assert not verify.explained(replace(made, weights=uniform))


def test_rows_that_see_nothing_are_left_out() -> None:
    allowed = torch.ones(QUERIES, KEYS, dtype=torch.bool)
    allowed[0] = False
    made = call()
    assert made.context is not None
    context = made.context.clone()
    context[:, :, 0] = torch.nan
    assert verify.explained(replace(made, context=context, rule=Rule(0.3, Mask(allowed=allowed))))


def test_some_rows() -> None:
    assert verify.sample(1, torch.device("cpu")).tolist() == [0]
    assert verify.sample(3, torch.device("cpu")).tolist() == [0, 1, 2]
    assert verify.sample(100, torch.device("cpu")).tolist() == [0, 33, 66, 99]


def test_shapes_of_heads_and_tokens() -> None:
    module = nn.MultiheadAttention(10, 5)
    assert verify.heads_of(module) == 5
    assert verify.heads_of(nn.Linear(2, 3)) is None
    shape = torch.Size((2, 5, 7, 7))
    assert verify.problem_of_shape(shape, module, frozenset((14, 20))) is None
    assert verify.problem_of_shape(torch.Size((2, 5, 1, 7)), module, frozenset((14,))) is None
    for wrong, text in (
        ((2, 7, 5, 7), "not of the module's 5 heads"),
        ((2, 5, 7), r"not (batch, heads, queries, keys)"),
        ((2, 5, 3, 3), "not of the 14 tokens"),
    ):
        assert text in str(verify.problem_of_shape(torch.Size(wrong), module, frozenset((14,))))


def test_rows_of_weights() -> None:
    weights = torch.tensor([[0.2, 0.8], [0.3, 0.1], [0.0, 0.0]])
    assert verify.problem_of_weights(weights) is None
    assert "sum to more than 1" in str(verify.problem_of_weights(weights * 2))
    assert "negative" in str(verify.problem_of_weights(-weights))
    assert "not finite" in str(verify.problem_of_weights(weights / 0))
