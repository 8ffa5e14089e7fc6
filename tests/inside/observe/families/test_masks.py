"""Masks as models pass them: what they forbid, what they add, which keys are left."""

from __future__ import annotations

import pytest
import torch

from regard.inside.observe.families.masks import masked_call, sdpa_call, split_additive

NEVER = torch.finfo(torch.float32).min


def test_an_added_mask_forbids_and_adds() -> None:
    allowed, added = split_additive(torch.tensor([[0.0, NEVER], [0.5, -torch.inf]]))
    assert allowed is not None
    assert added is not None
    assert allowed.tolist() == [[True, False], [True, False]]
    assert added.tolist() == [[0.0, 0.0], [0.5, 0.0]]
    assert split_additive(torch.zeros(2, 2)) == (None, None)


def test_what_a_mask_adds_joins_the_bias() -> None:
    query, key = torch.randn(1, 2, 3, 5), torch.randn(1, 2, 7, 5)
    mask = torch.zeros(1, 1, 3, 11)  # longer than the keys, as of a static cache
    mask[..., 6], mask[..., 0] = NEVER, 2.0
    call = masked_call(query, key, key, mask, False, bias=torch.ones(7), softcap=3.0)
    assert call.rule.bias is not None
    assert call.rule.bias[0, 0, 0].tolist() == [3, 1, 1, 1, 1, 1, 1]
    assert call.rule.mask is not None
    assert call.rule.mask.allowed is not None
    assert call.rule.mask.allowed[0, 0, 0].tolist() == [True] * 6 + [False]
    assert call.rule.scale == pytest.approx(5**-0.5)
    assert call.rule.softcap == 3.0


def test_causal_counts_from_the_upper_left() -> None:
    query, key = torch.randn(1, 2, 3, 5), torch.randn(1, 2, 7, 5)
    call = sdpa_call(query, key, key, is_causal=True, scale=0.25)
    assert call.key.shape == (1, 2, 3, 5)
    assert call.rule.mask is not None
    assert (call.rule.mask.causal, call.rule.scale) == (True, 0.25)
    expected = torch.nn.functional.scaled_dot_product_attention(
        query, key, key, is_causal=True, scale=0.25
    )
    weights = (query @ call.key.mT * 0.25 + torch.full((3, 3), -torch.inf).triu(1)).softmax(-1)
    torch.testing.assert_close(weights @ call.key, expected)


def test_keys_and_values_of_fewer_heads_are_repeated() -> None:
    query, key, value = (torch.randn(1, heads, 3, 5) for heads in (6, 2, 6))
    call = masked_call(query, key, value, None, False)
    assert call.key.shape == (1, 6, 3, 5)
    assert torch.equal(call.key[:, 4], key[:, 1])
