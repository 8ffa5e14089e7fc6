"""Masks as models pass them, and the calls that are made with them."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regard.attention.mask import Mask
from regard.attention.rule import Rule
from regard.inside.observe.call import Call


def split_additive(mask: Tensor) -> tuple[Tensor | None, Tensor | None]:
    """(True = may attend, what is added to the scores) of a mask that is added to the scores.

    A mask of zeros and of very large negative numbers forbids and adds nothing.
    """
    never = mask <= torch.finfo(mask.dtype).min / 2
    rest = mask.masked_fill(never, 0)
    allowed = ~never if bool(never.any()) else None
    return allowed, rest.float() if bool(rest.any()) else None


def masked_call(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    causal: bool,
    *,
    scale: float | None = None,
    bias: Tensor | None = None,
    softcap: float | None = None,
) -> Call:
    """A call with a mask of booleans (True = may attend) or one that is added to the scores.

    ``causal`` is that of PyTorch, from the upper left: a query sees as many keys as there are
    queries up to it.
    """
    if key.dim() == value.dim() == 4 and key.shape[1] != value.shape[1]:
        heads = max(key.shape[1], value.shape[1])
        key, value = (x.repeat_interleave(heads // x.shape[1], 1) for x in (key, value))
    allowed: Tensor | None = None
    if mask is not None:
        mask = mask[..., : key.shape[-2]]
        allowed, added = (mask, None) if not mask.is_floating_point() else split_additive(mask)
        allowed = None if allowed is None else allowed.bool()
        if added is not None:
            bias = added if bias is None else bias + added
    rules = None if allowed is None else Mask(allowed=allowed)
    if causal:
        rules, queries = Mask(causal=True), query.shape[-2]
        key, value = key[..., :queries, :], value[..., :queries, :]
        bias = None if bias is None else bias[..., :queries]
    rule = Rule(
        query.shape[-1] ** -0.5 if scale is None else float(scale),
        rules,
        None if bias is None else bias.detach().float(),
        softcap,
    )
    return Call(query, key, rule, value=value)


def sdpa_call(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attn_mask: Tensor | None = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    **_: Any,
) -> Call:
    """What ``torch.nn.functional.scaled_dot_product_attention`` was given."""
    return masked_call(query, key, value, attn_mask, is_causal, scale=scale)
