"""Attend: score, mask, weigh, mix. The fast path and the explained path, side by side.

    e = score(query, key)                   score
    e = -inf where the mask says no         mask
    a = softmax(e)                          weigh   (a row that may attend to nothing: all zeros)
    c = a value                             mix

``attend`` takes PyTorch's fused kernel, which never holds the weights, unless somebody wants to
see them: then it takes the four steps above, one line each, and notes every one.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.attention.fused import fused, fused_scale
from regard.attention.mask import Mask, as_mask
from regard.attention.score import Score, scaled_dot
from regard.errors import MaskError, ShapeError
from regard.record import Derived, note, recording


class Attended(NamedTuple):
    """What attention returns: the ``context`` (..., q, w) and, if asked for, the ``weights``."""

    context: Tensor
    weights: Tensor | None


def attend(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    *,
    score: Score = scaled_dot,
    mask: Mask | Tensor | None = None,
    groups: int = 1,
    dropout: float = 0.0,
    need_weights: bool = False,
) -> Attended:
    """Each query's mix of the values, weighed by how well their keys fit it.

    query (..., q, d), key (..., k, d), value (..., k, w); leading axes broadcast. ``mask`` is
    boolean, True = may attend, broadcastable to (..., q, k), or a :class:`Mask`. With ``groups``
    > 1 the axis before the last two is the heads', and each key/value head serves that many
    query heads. ``dropout`` is the share of weights to drop (training only: pass 0 otherwise).
    """
    allowed = None if mask is None else as_mask(mask)
    if not need_weights and not recording():
        scale = fused_scale(score, query)
        if scale is not None:
            _check(query, key, value, allowed, groups)
            return Attended(fused(query, key, value, allowed, scale, groups, dropout), None)
    return explained(query, key, value, score, allowed, groups, dropout)


def explained(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    score: Score,
    mask: Mask | None,
    groups: int = 1,
    dropout: float = 0.0,
) -> Attended:
    """The four verbs, one line each: what the fast path computes, with every value at hand."""
    _check(query, key, value, mask, groups, same_width=fused_scale(score, query) is not None)
    if groups > 1:
        key, value = key.repeat_interleave(groups, -3), value.repeat_interleave(groups, -3)
    scores = score(query, key)
    weights = weigh(scores, None if mask is None else _tile(mask, scores))
    kept = F.dropout(weights, dropout) if dropout else weights
    return Attended(mix(kept, value), weights)


def weigh(scores: Tensor, allowed: Tensor | None = None) -> Tensor:
    """a[i,:] = softmax(e[i,:]) over the allowed keys; zeros where none is allowed.

    ``scores`` (..., q, k); ``allowed`` boolean, broadcastable to it.
    """
    if allowed is not None:
        note(
            "mask",
            allowed,
            axes=("query", "key"),
            formula="may i attend to j?",
            meaning="Where a query may not attend, its score becomes -inf and its weight 0.",
        )
        scores = scores.masked_fill(~allowed, -math.inf)
    # softmax of a row of -inf is NaN, and so is its gradient: give such a row harmless numbers
    # first and zeros afterwards.
    empty = (scores == -math.inf).all(-1, keepdim=True)
    weights = scores.masked_fill(empty, 0).softmax(-1).masked_fill(empty, 0)
    note(
        "weights",
        weights,
        axes=("query", "key"),
        formula="a[i,j] = exp(e[i,j]) / sum_j exp(e[i,j])",
        meaning="Softmax makes a row positive with sum 1: the share of attention each key gets.",
    )
    return weights


def mix(weights: Tensor, value: Tensor) -> Tensor:
    """c[i] = sum_j a[i,j] v_j: weights (..., q, k) and value (..., k, w) give (..., q, w)."""
    context = weights @ value
    if recording():
        note(
            "weighted_values",
            Derived(_weighted, weights, value, ndim=context.dim() + 1),
            axes=("query", "key", "width"),
            formula="a[i,j] v_j",
            meaning="Each value shrunk to its share: little is left of what got little weight.",
        )
        note(
            "context",
            context,
            axes=("query", "width"),
            formula="c[i] = sum_j a[i,j] v_j",
            meaning="Their sum: what this position takes from all the others.",
        )
    return context


def _weighted(weights: Any, value: Any) -> Any:
    return weights[..., None] * value[..., None, :, :]


def _tile(mask: Mask, scores: Tensor) -> Tensor | None:
    queries, keys = scores.shape[-2:]
    return mask.tile((0, queries), (0, keys), queries, keys, scores.device)


def _check(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Mask | None,
    groups: int,
    same_width: bool = True,
) -> None:
    """Raise with the rule, the expected and the got if the shapes do not fit together."""
    q, k, v = query.shape, key.shape, value.shape
    if not (q == k == v and groups == 1 and len(q) >= 2):
        _check_shapes(q, k, v, groups, same_width)
    if mask is not None and mask.allowed is not None:
        mask.check(q[-2], k[-2])
        if mask.allowed.dim() > 2:
            _check_mask_lead(q, k, mask.allowed, groups)


def _check_shapes(
    q: torch.Size, k: torch.Size, v: torch.Size, groups: int, same_width: bool
) -> None:
    if len(q) < 2 or len(k) < 2 or len(v) < 2:
        raise ShapeError(
            f"query, key and value need at least two axes (positions, width), "
            f"got {tuple(q)}, {tuple(k)} and {tuple(v)}"
        )
    if same_width and q[-1] != k[-1]:
        raise ShapeError(
            f"a dot product needs queries and keys of one width, got {q[-1]} and {k[-1]}; "
            "use the bilinear or the additive score for different widths"
        )
    if k[-2] != v[-2]:
        raise ShapeError(f"each key has one value: got {k[-2]} keys and {v[-2]} values")
    if groups != 1 and (len(q) < 3 or len(k) < 3 or q[-3] != groups * k[-3] or k[-3] != v[-3]):
        raise ShapeError(
            f"with groups={groups} there must be {groups} query heads (axis -3) to each key/value "
            f"head, got queries {tuple(q)}, keys {tuple(k)}, values {tuple(v)}"
        )
    inner = -2 if groups == 1 else -3
    if not q[:inner] == k[:inner] == v[:inner]:
        _broadcast(q[:inner], k[:inner], v[:inner])


def _check_mask_lead(q: torch.Size, k: torch.Size, allowed: Tensor, groups: int) -> None:
    """A mask may broadcast over leading axes but must not add or change any."""
    lead = _broadcast(q[:-2], k[:-2]) if groups == 1 else (*_broadcast(q[:-3], k[:-3]), q[-3])
    own = allowed.shape[:-2]
    fits = len(own) <= len(lead) and all(
        m in (1, n) for m, n in zip(reversed(own), reversed(lead), strict=False)
    )
    if not fits:
        raise MaskError(
            f"a mask's leading axes must broadcast to those of the queries {tuple(lead)}, "
            f"got {tuple(own)} in {tuple(allowed.shape)}"
        )


def _broadcast(*leads: torch.Size) -> torch.Size:
    try:
        return torch.Size(torch.broadcast_shapes(*leads))
    except RuntimeError:
        got = ", ".join(str(tuple(lead)) for lead in leads)
        raise ShapeError(
            f"the leading axes of query, key and value must broadcast, got {got}"
        ) from None
