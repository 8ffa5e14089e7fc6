"""Attention by its definition, in float64: what the kernel's tests compare with."""

from __future__ import annotations

import math
from typing import NamedTuple

import torch
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Mask, causal, padding, window
from regard.attention.rule import Rule
from regard.attention.wanted import Wanted

ALL = Wanted(top=3, entropy=True, received=True, cells=17)


class Case(NamedTuple):
    query: Tensor
    key: Tensor
    value: Tensor
    rule: Rule


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Every option, over strides, grouped heads, widths and lengths of any remainder."""
    batch, key_heads, groups = (draw(st.integers(1, n)) for n in (2, 2, 3))
    queries = draw(st.sampled_from([1, 2, 4, 7, 13, 29, 53]))
    keys = draw(st.sampled_from([1, 3, 17, 31, 67, 131, 293, 521]))
    width, value_width = (draw(st.sampled_from([1, 5, 8, 16, 24, 40, 64])) for _ in range(2))
    size = draw(st.sampled_from([1.0, 1.0, 3.0, 30.0]))
    dtype = draw(st.sampled_from([torch.float32, torch.float32, torch.float16, torch.bfloat16]))
    torch.manual_seed(draw(st.integers(0, 999)))
    query = torch.randn(batch, queries, key_heads * groups, width).transpose(1, 2) * size
    key = torch.randn(batch, key_heads, keys, 2 * width)[..., :: draw(st.sampled_from([1, 2]))]
    value = torch.randn(batch, key_heads, keys, value_width)
    masks = [
        None,
        causal(),
        window(3),
        window(40, 9) & causal(),
        Mask(causal=True, after=-1),
        Mask(allowed=padding(torch.randint(0, keys + 1, (batch,)), keys).allowed[:, None]),  # type: ignore[index]
        Mask(allowed=torch.rand(queries, keys) < 0.5),
        Mask(causal=True, allowed=torch.rand(batch, key_heads * groups, 1, keys) < 0.7),
    ]
    biases = [
        None,
        None,
        torch.randn(queries, keys),
        torch.randn(1, key_heads * groups, 1, keys).where(torch.rand(keys) < 0.8, -math.inf),
        torch.randn(key_heads * groups, queries, 1),
    ]
    rule = Rule(
        draw(st.sampled_from([width**-0.5, 1.0, -0.3])),
        draw(st.sampled_from(masks)),
        draw(st.sampled_from(biases)),
        draw(st.sampled_from([None, None, 5.0])),
    )
    return Case(query.to(dtype), key[..., :width].to(dtype), value.to(dtype), rule)


def weights_of(case: Case) -> tuple[Tensor, Tensor]:
    """Scores and weights (batch, heads, queries, keys) straight from their definition."""
    rule, groups = case.rule, case.query.shape[1] // case.key.shape[1]
    key = case.key.double().repeat_interleave(groups, 1)
    scores = case.query.double() @ key.mT * rule.scale
    if rule.softcap:
        scores = rule.softcap * (scores / rule.softcap).tanh()
    if rule.bias is not None:
        scores = scores + rule.bias
    if rule.mask is not None:
        allowed = rule.mask.dense(*scores.shape[-2:])
        scores = scores.masked_fill(~allowed, -math.inf)
    return scores, scores.softmax(-1).nan_to_num(0)


def close(ours: Tensor | None, theirs: Tensor, most: float) -> None:
    assert ours is not None
    torch.testing.assert_close(ours.double(), theirs.double(), atol=most, rtol=most)
