"""Entries: the weights at chosen pairs of a query and a key, and which pairs can have any.

Statistics of a whole layer come from one pass over all its scores. Where only some pairs matter
(a diagonal, the places of one word) their weights are computed alone, from the row's log-sum-exp:

    a[i,j] = exp(score(q_i, k_j) − lse_i)
"""

from __future__ import annotations

from dataclasses import replace

import torch
from torch import Tensor

from regard.attention.mask import Mask, picked
from regard.attention.rule import NOTHING, to_weights
from regard.inside.observe.layer import Item, rule_of_weights

MOST = 1 << 22
"""Numbers held at a time."""


def weights_between(item: Item, lse: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """a[head, t, r, c]: the weight of query ``rows[t, r]`` for key ``columns[t, c]``.

    ``rows`` is (t, r), ``columns`` (t, c); a number below 0 stands for no position and gets 0.
    ``lse`` is (heads, queries). The result is (heads, t, r, c).
    """
    scores = item.rule.scores_between(item.query, item.key, rows, columns)
    return to_weights(scores, lse[:, rows.clamp_min(0)])


def visible(item: Item, rows: Tensor, columns: Tensor) -> Tensor:
    """Whether query ``rows[t, r]`` may see key ``columns[t, c]``: (heads or 1, t, r, c)."""
    seen = item.rule.allows(rows, columns, item.query.shape[1], item.key.shape[1])
    if item.weights is None:
        return seen
    assert item.rule.bias is not None
    logs = picked(item.rule.bias, rows.clamp_min(0), columns.clamp_min(0))
    return seen & (logs > NOTHING)


def seen_counts(item: Item, among: Tensor | None = None) -> Tensor:
    """How many keys each query may see, of all or of those where ``among`` (keys,) is True.

    (heads or 1, queries)
    """
    queries, keys = item.query.shape[1], item.key.shape[1]
    device = item.query.device
    chosen = torch.ones(keys, device=device) if among is None else among.to(device).float()
    allowed = None if item.rule.mask is None else item.rule.mask.allowed
    if allowed is not None and allowed.shape[-1] == allowed.numel() == keys:  # as for every query
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
    if item.weights is not None:
        out = dropped.to(item.weights.device)
        lost = item.weights[..., out].sum(-1, keepdim=True)
        weights = item.weights.masked_fill(out, 0) / (1 - lost).clamp_min(1e-30)
        return replace(item, weights=weights, rule=rule_of_weights(weights))
    left = Mask(allowed=~dropped.to(item.query.device).unsqueeze(0))
    mask = left if item.rule.mask is None else item.rule.mask & left
    if mask.allowed is not None and mask.allowed.dim() == 2:
        mask = replace(mask, allowed=mask.allowed.unsqueeze(0))
    return replace(item, rule=replace(item.rule, mask=mask))
