"""Fused: the scores that a fused kernel can compute, brought to the form it is fast in.

A fused kernel never holds the (q, k) weights. Without gradients, or with those of short texts, it
is regard's own, where that is there. Else it is PyTorch's, which wants four axes, one width, one
leading shape, and a causal rule as a flag; everything here is about handing it that, and nothing
here changes a value.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.attention.kernel import gradient
from regard.attention.kernel import run as native
from regard.attention.kernel.library import Kernel
from regard.attention.mask import Mask
from regard.attention.private import watched
from regard.attention.rule import Rule
from regard.attention.score import Score, dot, scaled_dot, usual_scale

BLOCK = 256
"""Rows of queries that a windowed attention handles at a time, at least."""


def fused_scale(score: Score, query: Tensor) -> float | None:
    """The scale with which the fused kernel computes ``score``; None if it cannot."""
    if score is scaled_dot:
        return usual_scale(query.shape[-1])
    if score is dot:
        return 1.0
    if isinstance(score, functools.partial) and score.func is scaled_dot and not score.args:
        scale = score.keywords.get("scale")
        return fused_scale(scaled_dot, query) if scale is None else float(scale)
    return None


def fused(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Mask | None,
    scale: float,
    groups: int,
    dropout: float,
) -> Tensor | None:
    """The native kernel if it can, else PyTorch's on four axes, where it has a fast one.

    None if something that is not finite may have come through a mask: PyTorch multiplies it by 0.
    """
    if query.is_cpu and torch.is_autocast_enabled("cpu"):
        # In bfloat16 the gradient of short sequences takes seven times as long as in float32.
        with torch.autocast("cpu", enabled=False):
            return fused(query.float(), key.float(), value.float(), mask, scale, groups, dropout)
    q, k, v = query.shape, key.shape, value.shape
    if not dropout:
        trains = torch.is_grad_enabled() and any(t.requires_grad for t in (query, key, value))
        kernel = (gradient if trains else native).usable(query, key, value)
        if kernel is not None:
            return _native(kernel, query, key, value, Rule(scale, mask), groups, trains)
    is_causal, allowed = False, None
    if mask is not None:
        before, after = mask.reach
        if before is not None and after is not None and k[-2] > 2 * (before + after + BLOCK):
            return _banded(query, key, value, mask, scale, groups, dropout)
        if before is None and after == 0 and mask.allowed is None and q[-2] in (1, k[-2]):
            is_causal = q[-2] == k[-2]  # the kernel knows this rule; a last query sees every key
        else:
            allowed = mask.tile((0, q[-2]), (0, k[-2]), q[-2], k[-2], query.device)
    lead = None
    if not (q == k == v and len(q) == 4):
        if v[-1] != q[-1]:  # the fused kernel wants one width; zeros change nothing
            query, key, value = _same_width(query, key, value)
        if not _has_four_axes(q, k, v, groups):
            query, key, value, lead = _four_axes(query, key, value, groups)
    if allowed is not None and allowed.dim() > 2:
        allowed = _mask_axes(allowed, q[:-2] if lead is None else lead)
    context = F.scaled_dot_product_attention(
        query,
        key,
        value,
        attn_mask=allowed,
        dropout_p=dropout,
        is_causal=is_causal,
        scale=scale,
        enable_gqa=groups > 1,
    )
    if mask is not None and spoilt(context):
        return None
    if lead is not None:
        context = context.reshape(*lead, q[-2], context.shape[-1])
    return context if q[-1] <= v[-1] else context[..., : v[-1]]


def spoilt(context: Tensor) -> bool:
    """Whether something in it is not finite; not asked where its numbers cannot be read."""
    if watched() or context.is_meta:
        return False
    wide = torch.promote_types(context.dtype, torch.float32)
    return not math.isfinite(context.detach().sum(dtype=wide))


def _native(
    kernel: Kernel,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    rule: Rule,
    groups: int,
    trains: bool,
) -> Tensor:
    """The native kernel, which takes any strides, widths, windows and masks of four axes."""
    q, mask, lead = query.shape, rule.mask, None
    if not _has_four_axes(q, key.shape, value.shape, groups):
        query, key, value, lead = _four_axes(query, key, value, groups)
    if mask is not None and mask.allowed is not None and mask.allowed.dim() > 2:
        allowed = _mask_axes(mask.allowed, q[:-2] if lead is None else lead)
        rule = replace(rule, mask=replace(mask, allowed=allowed))
    if trains:
        context = gradient.run(kernel, query, key, value, rule)
    else:
        found, _ = native.run(kernel, query, key, value, rule)
        assert found is not None
        context = found
    return context if lead is None else context.reshape(*lead, *context.shape[-2:])


def _banded(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Mask,
    scale: float,
    groups: int,
    dropout: float,
) -> Tensor | None:
    """Windowed attention in O(n · window): each block of queries meets only the keys in reach."""
    queries, keys = query.shape[-2], key.shape[-2]
    before, after = (reach or 0 for reach in mask.reach)
    block = max(BLOCK, before + after)
    parts = []
    for start in range(0, queries, block):
        stop = min(start + block, queries)
        first = max(0, start + keys - queries - before)
        last = max(first, min(keys, stop + keys - queries + after))
        tile = mask.tile((start, stop), (first, last), queries, keys, query.device)
        rows, columns = slice(start, stop), slice(first, last)
        part = fused(
            query[..., rows, :],
            key[..., columns, :],
            value[..., columns, :],
            Mask(allowed=tile),
            scale,
            groups,
            dropout,
        )
        if part is None:
            return None
        parts.append(part)
    return torch.cat(parts, -2)


def _same_width(query: Tensor, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    width = max(query.shape[-1], value.shape[-1])
    pads = [F.pad(t, (0, width - t.shape[-1])) for t in (query, key, value)]
    return pads[0], pads[1], pads[2]


def _has_four_axes(q: torch.Size, k: torch.Size, v: torch.Size, groups: int) -> bool:
    """Whether the leading axes are two, (batch, head), with nothing to broadcast."""
    if not len(q) == len(k) == len(v) == 4:
        return False
    return q[0] == k[0] == v[0] and (groups > 1 or q[1] == k[1] == v[1])


def _four_axes(
    query: Tensor, key: Tensor, value: Tensor, groups: int
) -> tuple[Tensor, Tensor, Tensor, torch.Size]:
    """Broadcast the leading axes and fold them into two (batch, head); the shape to unfold to."""
    heads = (1, *query.shape[:-2])[-1] if groups == 1 else query.shape[-3]
    shapes = [query.shape[:-2], key.shape[:-2], value.shape[:-2]]
    if groups > 1:
        shapes = [shape[:-1] for shape in shapes]
    lead = np.broadcast_shapes(*shapes)  # torch's own imports sympy: 0.3 s
    if groups > 1:
        lead = (*lead, heads)
    folded = []
    for tensor in (query, key, value):
        own = lead if groups == 1 or tensor is query else (*lead[:-1], heads // groups)
        tensor = tensor.expand(*own, *tensor.shape[-2:])
        outer = math.prod(own[:-1])
        folded.append(tensor.reshape(outer, own[-1] if own else 1, *tensor.shape[-2:]))
    return folded[0], folded[1], folded[2], torch.Size(lead)


def _mask_axes(allowed: Tensor, lead: torch.Size) -> Tensor:
    """A mask with leading axes, on the same four axes as the folded query."""
    if len(lead) <= 2:
        return allowed[(None,) * (4 - allowed.dim())]
    allowed = allowed.expand(*lead, *allowed.shape[-2:])
    return allowed.reshape(math.prod(lead[:-1]), lead[-1], *allowed.shape[-2:])
