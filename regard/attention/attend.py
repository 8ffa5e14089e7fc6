"""Attend: score, mask, weigh, mix. The fast path and the explained path, side by side.

    e = score(query, key)                   score
    e = -inf where the mask says no         mask
    a = softmax(e)                          weigh   (a row that may attend to nothing: all zeros)
    c = a value                             mix

``attend`` takes a fused kernel, regard's own or PyTorch's, which never holds the weights, unless
somebody wants to see them: then it takes the four steps above, one line each, and notes every one.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from regard.attention.fused import fused, fused_scale, spoilt
from regard.attention.mask import Mask, as_mask
from regard.attention.rule import softmax
from regard.attention.score import Score, scaled_dot
from regard.errors import MaskError, RegardError, ShapeError
from regard.record import note, noted, recording, wanted
from regard.trace import Derived, Part


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
    check_tensors(query=query, key=key, value=value)
    allowed = None if mask is None else as_mask(mask)
    if dropout and not 0 <= dropout <= 1:
        raise RegardError(f"dropout is the share of weights to drop, from 0 to 1, got {dropout}")
    if not need_weights and not recording():
        scale = fused_scale(score, query)
        if scale is not None:
            _check(query, key, value, allowed, groups)
            try:
                context = fused(query, key, value, allowed, scale, groups, dropout)
            except RuntimeError:  # asked only now: a look at the dtypes takes time on each call
                _check_kinds(query, key, value)
                raise
            if context is not None:
                return Attended(context, None)
    if query.is_cpu and torch.is_autocast_enabled("cpu"):  # in float32, as the fused path
        with torch.autocast("cpu", enabled=False):
            query, key, value = query.float(), key.float(), value.float()
            return attend(
                *(query, key, value),
                score=score,
                mask=allowed,
                groups=groups,
                dropout=dropout,
                need_weights=True,
            )
    _check(query, key, value, allowed, groups, same_width=fused_scale(score, query) is not None)
    _check_kinds(query, key, value)
    scores = score(query, key.repeat_interleave(groups, -3) if groups > 1 else key)
    weights = weigh(scores, None if allowed is None else _tile(allowed, scores))
    kept = drop(weights, dropout) if dropout else weights
    return Attended(mix(kept, value, groups), weights)


def check_tensors(**given: object) -> None:
    """Raise for what is no tensor, saying how to make one."""
    for name, value in given.items():
        if not isinstance(value, Tensor):
            kind = f"{type(value).__module__}.{type(value).__qualname__}".removeprefix("builtins.")
            raise RegardError(
                f"{name} must be a torch.Tensor, got {kind}: torch.as_tensor({name}) makes one"
            )


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
    weights = softmax(scores)
    note(
        "weights",
        weights,
        axes=("query", "key"),
        formula="a[i,j] = exp(e[i,j]) / sum_j exp(e[i,j])",
        meaning="Softmax makes a row positive with sum 1: the share of attention each key gets.",
    )
    return weights


def drop(weights: Tensor, dropout: float) -> Tensor:
    """Drop this share of the weights and enlarge the others as much, as training does."""
    kept = F.dropout(weights, dropout)
    note(
        "kept",
        kept,
        axes=("query", "key"),
        formula=f"dropout(a[i,j], {dropout:g})",
        meaning="In training some weights are dropped by chance, and the others grow for them.",
    )
    return kept


def mix(weights: Tensor, value: Tensor, groups: int = 1) -> Tensor:
    """c[i] = sum_j a[i,j] v_j: weights (..., q, k) and value (..., k, w) give (..., q, w).

    With ``groups`` > 1 each head of values (axis -3) serves that many heads of weights. A value of
    weight 0 adds nothing, whatever it is.
    """
    own = value.repeat_interleave(groups, -3) if groups > 1 else value
    context = weights @ own
    if spoilt(context) and (weights == 0).any():
        # 0 · NaN is NaN: leave out what has no weight, one query at a time.
        rows = [
            row.unsqueeze(-2) @ torch.where(row.unsqueeze(-1) == 0, 0, own)
            for row in weights.unbind(-2)
        ]
        context = torch.cat(rows, -2)
    if recording():
        if wanted("weighted_values"):
            note_weighted(weights, value)
        note(
            "context",
            context,
            axes=("query", "width"),
            formula="c[i] = sum_j a[i,j] v_j",
            meaning="Their sum: what this position takes from every position it may see.",
        )
    return context


def note_weighted(weights: Tensor, value: Tensor) -> None:
    """Note a[i,j] v_j as made from the weights and values noted, which are noted if need be."""
    shares = "weights" if noted("kept", weights) is None else "kept"
    parts = []
    for name, tensor, axes, formula, meaning in (
        (shares, weights, ("query", "key"), "a[i,j]", "The share of attention each key gets."),
        ("values", value, ("key", "width"), "v_j", "What each key hands over."),
    ):
        array = noted(name, tensor)
        if array is None:
            note(name, tensor, axes=axes, formula=formula, meaning=meaning)
            array = noted(name, tensor)
        assert array is not None
        parts.append(Part(name, array))
    note(
        "weighted_values",
        Derived(*parts),
        axes=("query", "key", "width"),
        formula="a[i,j] v_j",
        meaning="Each value shrunk to its share: little is left of what got little weight.",
    )


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


def _check_kinds(query: Tensor, key: Tensor, value: Tensor) -> None:
    """Raise if the tensors are of different dtypes or on different devices."""
    for what, kinds in (
        ("dtype", (query.dtype, key.dtype, value.dtype)),
        ("device", (query.device, key.device, value.device)),
    ):
        if len(set(kinds)) > 1:
            got = ", ".join(map(str, kinds))
            raise RegardError(
                f"query, key and value must have one {what}, got {got}; move them with .to(…)"
            )


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
        return torch.Size(np.broadcast_shapes(*leads))  # torch's own imports sympy: 0.3 s
    except ValueError:
        got = ", ".join(str(tuple(lead)) for lead in leads)
        raise ShapeError(
            f"the leading axes of query, key and value must broadcast, got {got}"
        ) from None
