"""Rule: how queries and keys become weights. Written here once; everything else calls it.

    e[i,j] = q_i · k_j · scale
    e[i,j] = softcap · tanh(e[i,j] / softcap)     if there is a soft cap
    e[i,j] = e[i,j] + bias[i,j]                   if there is a bias
    e[i,j] = −inf                                 where the mask, or a bias of NOTHING, says no
    a[i,:] = softmax(e[i,:])                      a row that may attend to nothing: all zeros

It has two twins, which compute the same where PyTorch is too slow or is not there: the native
kernel (kernel/attention.cpp) and the page's script (views/page/script/attention.js). Tests hold
both to this file over the same cases.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.attention.mask import Mask, cut, picked

NOTHING = -1e30
"""A score so low, which only a bias can make, is a mask. As a masked score in a block it has the
weight 0 like −inf, and 0 · score is 0 and not NaN."""

Span = tuple[int, int]
"""(first, last): positions from the first up to before the last."""


@dataclass(frozen=True)
class Rule:
    """How queries and keys of one layer become weights; everything but the vectors themselves."""

    scale: float
    mask: Mask | None = None
    """Its tensor is broadcastable to (heads, queries, keys)."""
    bias: Tensor | None = None
    """Broadcastable to (heads, queries, keys)."""
    softcap: float | None = None

    def scores(
        self,
        query: Tensor,
        key: Tensor,
        rows: Span | None = None,
        columns: Span | None = None,
        masked: float = -math.inf,
    ) -> Tensor:
        """The scores (heads, rows, columns) of one tile in float32; ``masked`` where masked.

        Query (heads, queries, d), key (key heads, keys, d): each key head serves as many heads.
        """
        (heads, queries, width), (key_heads, keys, _) = query.shape, key.shape
        rows, columns = rows or (0, queries), columns or (0, keys)
        tall, wide = rows[1] - rows[0], columns[1] - columns[0]
        # Heads that share a key head are further rows of one product.
        shared = query[:, rows[0] : rows[1]].reshape(key_heads, heads // key_heads * tall, width)
        scores = _products(shared, key[:, columns[0] : columns[1]], self.scale)
        bias = None if self.bias is None else cut(self.bias, rows, columns)
        allowed = None
        if self.mask is not None:
            allowed = self.mask.tile(rows, columns, queries, keys, query.device)
        return self._finished(scores.view(heads, tall, wide), bias, allowed, masked)

    def scores_between(self, query: Tensor, key: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        """e[head, t, r, c]: the score of query ``rows[t, r]`` and key ``columns[t, c]``.

        ``rows`` (t, r) and ``columns`` (t, c) are positions; below 0 is none, and masked.
        """
        (heads, queries, width), (key_heads, keys, _) = query.shape, key.shape
        (count, tall), wide, groups = rows.shape, columns.shape[1], heads // key_heads
        r, c = rows.clamp_min(0), columns.clamp_min(0)
        shared = query[:, r].unflatten(0, (key_heads, groups)).transpose(1, 2)
        shared = shared.reshape(key_heads * count, groups * tall, width)
        scores = _products(shared, key[:, c].flatten(0, 1), self.scale)
        scores = scores.view(key_heads, count, groups, tall, wide).transpose(1, 2)
        bias = None if self.bias is None else picked(self.bias, r, c)
        allowed = self.allows(rows, columns, queries, keys)
        scores = scores.reshape(heads, count, tall, wide)
        return self._finished(scores, bias, allowed, -math.inf)

    def allows(self, rows: Tensor, columns: Tensor, queries: int, keys: int) -> Tensor:
        """Whether the mask lets query ``rows[t, r]`` see key ``columns[t, c]``.

        (heads or 1, t, r, c); False where a position is below 0.
        """
        here = ((rows >= 0).unsqueeze(-1) & (columns >= 0).unsqueeze(-2)).unsqueeze(0)
        if self.mask is None:
            return here
        return here & self.mask.between(rows, columns, queries, keys)

    def reach(self, rows: Span, queries: int, keys: int) -> Span:
        """The keys that any of these rows may see by the mask's rules; never empty."""
        before, after = (None, None) if self.mask is None else self.mask.reach
        shift = keys - queries
        first = 0 if before is None else min(keys - 1, max(0, rows[0] + shift - before))
        last = keys if after is None else min(keys, max(first + 1, rows[1] + shift + after))
        return first, last

    def of_head(self, head: int) -> Rule:
        """The rule of one head, its mask and bias broadcastable to (queries, keys)."""
        mask = self.mask
        if mask is not None and mask.allowed is not None:
            mask = replace(mask, allowed=_of_head(mask.allowed, head))
        bias = None if self.bias is None else _of_head(self.bias, head)
        return replace(self, mask=mask, bias=bias)

    def _finished(
        self, scores: Tensor, bias: Tensor | None, allowed: Tensor | None, masked: float
    ) -> Tensor:
        """All but the products, in place."""
        if self.softcap:
            scores = scores.div_(self.softcap).tanh_().mul_(self.softcap)
        if bias is not None:
            scores += bias
            scores.masked_fill_(scores <= NOTHING, masked)
        return scores if allowed is None else scores.masked_fill_(~allowed, masked)


def softmax(scores: Tensor) -> Tensor:
    """The weights of whole rows (…, queries, keys); zeros where all scores are −inf."""
    if not scores.shape[-1]:
        return scores
    # softmax of a row of -inf is NaN, and so is its gradient: give such a row harmless numbers
    # first and zeros afterwards.
    empty = scores.detach().amax(-1, keepdim=True) == -math.inf
    return scores.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)


def to_weights(scores: Tensor, lse: Tensor) -> Tensor:
    """The weights of parts of rows, a = exp(e − lse), with the log-sum-exp (…, queries) of the
    whole rows; zeros where that is −inf. Overwrites ``scores``."""
    safe = torch.where(lse == -math.inf, 0, lse).unsqueeze(-1)
    return scores.sub_(safe).exp_()


def softmax_with_sums(scores: Tensor, keep: bool) -> tuple[Tensor, Tensor]:
    """Log-sum-exp (…, rows) and weights of whole rows with one exponential for each score.

    What is masked is NOTHING. Overwrites ``scores`` unless ``keep``. Rows that may attend to
    nothing: −inf and zeros.
    """
    most = scores.amax(-1, keepdim=True)
    raised = (scores - most).exp_() if keep else scores.sub_(most).exp_()
    total = raised.sum(-1, keepdim=True)
    empty = most <= NOTHING
    lse = (most + total.log()).masked_fill_(empty, -math.inf)
    return lse.squeeze(-1), raised.mul_((1 / total).masked_fill_(empty, 0))


def _products(query: Tensor, key: Tensor, scale: float) -> Tensor:
    """q · k · scale in float32: (n, r, d) and (n, c, d) give (n, r, c)."""
    query = query.float()
    return torch.baddbmm(query.new_empty(()), query, key.float().mT, beta=0, alpha=scale)


def _of_head(tensor: Tensor, head: int) -> Tensor:
    return tensor[head if tensor.shape[0] > 1 else 0] if tensor.dim() == 3 else tensor
