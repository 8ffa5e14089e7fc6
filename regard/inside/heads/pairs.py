"""Pairs: the weights at chosen pairs of a query and a key, and which pairs can have any.

Statistics of a whole layer come from one pass over all its scores. Where only some pairs matter
(a diagonal, the places of one word) their weights are computed alone, from the row's log-sum-exp:

    a[i,j] = exp(score(q_i, k_j) − lse_i)
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from regard.attention.mask import Mask
from regard.attention.statistics import NOTHING, Rule, to_weights
from regard.inside.observe.layer import Item

MOST = 1 << 22
"""Numbers held at a time."""


def weights_between(item: Item, lse: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """a[head, t, r, c]: the weight of query ``rows[t, r]`` for key ``columns[t, c]``.

    ``rows`` is (t, r), ``columns`` (t, c); a number below 0 stands for no position and gets 0.
    ``lse`` is (heads, queries). The result is (heads, t, r, c).
    """
    heads, _, width = item.query.shape
    groups = heads // item.key.shape[0]
    count, tall, wide = len(rows), rows.shape[1], columns.shape[1]
    r, c = rows.clamp_min(0), columns.clamp_min(0)
    query, key = item.query[:, r].float(), item.key[:, c].float()
    # Heads that share a key head are further rows of one product.
    shared = query.view(-1, groups, count, tall, width).transpose(1, 2)
    scores = shared.reshape(-1, count, groups * tall, width) @ key.mT * item.rule.scale
    scores = scores.view(-1, count, groups, tall, wide).transpose(1, 2)
    scores = scores.reshape(heads, count, tall, wide)
    if item.rule.softcap is not None:
        scores = scores.div_(item.rule.softcap).tanh_().mul_(item.rule.softcap)
    if item.rule.bias is not None:
        scores += _at(item.rule.bias, r, c)
    weights = to_weights(scores, lse[:, r])
    seen = visible(item, rows, columns)
    return weights.masked_fill_(~seen, 0)


def visible(item: Item, rows: Tensor, columns: Tensor) -> Tensor:
    """Whether query ``rows[t, r]`` may see key ``columns[t, c]``: (heads or 1, t, r, c)."""
    r, c = rows.unsqueeze(-1), columns.unsqueeze(-2)
    seen = ((r >= 0) & (c >= 0)).unsqueeze(0)
    if item.weights is not None:
        assert item.rule.bias is not None
        return seen & (_at(item.rule.bias, rows.clamp_min(0), columns.clamp_min(0)) > NOTHING)
    mask = item.rule.mask
    if mask is None:
        return seen
    before, after = mask.reach
    ahead = c - r - (item.key.shape[1] - item.query.shape[1])
    if after is not None:
        seen = seen & (ahead <= after)
    if before is not None:
        seen = seen & (ahead >= -before)
    if mask.allowed is not None:
        seen = seen & _at(mask.allowed, rows.clamp_min(0), columns.clamp_min(0))
    return seen


def seen_counts(item: Item, among: Tensor | None = None) -> Tensor:
    """How many keys each query may see, of all or of those where ``among`` (keys,) is True.

    (heads or 1, queries)
    """
    queries, keys = item.query.shape[1], item.key.shape[1]
    device = item.query.device
    chosen = torch.ones(keys, device=device) if among is None else among.to(device).float()
    allowed = None if item.rule.mask is None else item.rule.mask.allowed
    if allowed is not None and allowed.numel() == keys:  # the same keys for every query
        chosen, allowed = chosen * allowed.to(device).flatten(), None
    if item.weights is None and allowed is None:
        before, after = (None, None) if item.rule.mask is None else item.rule.mask.reach
        place = torch.arange(queries, device=device) + keys - queries
        first = place * 0 if before is None else (place - before).clamp(0, keys)
        last = place * 0 + keys if after is None else (place + after + 1).clamp(0, keys)
        sums = torch.nn.functional.pad(chosen.cumsum(0), (1, 0))
        return (sums[last] - sums[first.minimum(last)]).unsqueeze(0)
    counts = []
    every = torch.arange(keys, device=device).unsqueeze(0)
    for some in torch.arange(queries, device=device).split(max(1, MOST // max(1, keys))):
        counts.append(visible(item, some.unsqueeze(0), every)[:, 0].float() @ chosen)
    return torch.cat(counts, -1)


def without_keys(item: Item, dropped: Tensor) -> Item:
    """The same layer with some keys (keys,) masked, so that every row is shared out anew.

    exp(s_ij) / sum over the keys that are left = a_ij / (1 − weight of the dropped keys).
    """
    left = Mask(allowed=~dropped.to(item.query.device).unsqueeze(0))
    mask = left if item.rule.mask is None else item.rule.mask & left
    if mask.allowed is not None and mask.allowed.dim() == 2:
        mask = replace(mask, allowed=mask.allowed.unsqueeze(0))
    rule = Rule(item.rule.scale, mask, item.rule.bias, item.rule.softcap)
    return replace(item, rule=rule, weights=None)


def _at(tensor: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """(heads or 1, t, r, c) of a tensor broadcastable to (heads, queries, keys)."""
    tensor = tensor[(None,) * (3 - tensor.dim())]
    tall, wide = tensor.shape[-2:]
    r = rows.unsqueeze(-1) if tall > 1 else torch.zeros_like(rows).unsqueeze(-1)
    c = columns.unsqueeze(-2) if wide > 1 else torch.zeros_like(columns).unsqueeze(-2)
    return tensor[:, r, c]
