"""Call: what one call of attention in one layer was given. Calls of ``generate`` are joined."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from regard.attention.mask import Mask
from regard.attention.rule import Rule
from regard.attention.wanted import Statistics
from regard.errors import RegardError


@dataclass(frozen=True)
class Call:
    """Queries and keys of all heads with the rule between them, or weights that exist already."""

    query: Tensor
    """(batch, heads, queries, d)"""
    key: Tensor
    """(batch, key heads, keys, d)"""
    rule: Rule
    """Its mask and bias are broadcastable to (batch, heads, queries, keys)."""
    weights: Tensor | None = None
    """(batch, heads, queries, keys) where queries and keys do not give them. If these are not known
    queries have no width, and the values stand for the keys, by which steps are told from texts."""
    value: Tensor | None = None
    """(batch, key heads, keys, w), if values are wanted."""
    context: Tensor | None = None
    """(batch, heads, queries, w): what the model's own kernel mixed, if values are wanted."""
    seen: int = 0
    """Keys that the call saw. A later step of a cached decoding keeps only its new ones."""
    found: Statistics | None = None
    """Statistics that came with the output, if they were asked for."""
    unchanged: Tensor | None = None
    """The weights before some became 0 by intervention, by which padding is told from them."""

    @property
    def queries(self) -> int:
        return self.query.shape[-2]


def kept(
    call: Call, heads: Sequence[int] | None, dtype: torch.dtype | None, values: bool = False
) -> Call:
    """A copy that nothing changes later: the chosen heads, in ``dtype`` if one is given."""
    query, key, rule, weights = call.query, call.key, call.rule, call.weights
    found = call.found
    value, context = (call.value, call.context) if values else (None, None)
    if heads is not None:
        outside = [h for h in heads if not 0 <= h < query.shape[1]]
        if outside:
            raise RegardError(
                f"heads are counted from 0 and this layer has {query.shape[1]}, got {outside[0]}"
            )
        group = query.shape[1] // key.shape[1]
        groups = [h // group for h in heads]
        query, key = query[:, list(heads)], key[:, groups]
        value = None if value is None else value[:, groups]
        context = None if context is None else context[:, list(heads)]
        weights = None if weights is None else weights[:, list(heads)]
        rule = _rule_of_heads(rule, list(heads))
        found = found and found.each(lambda tensor: tensor[:, list(heads)])
    query, key = (_copy(t, dtype) for t in (query, key))
    weights, value, context = (
        None if t is None else _copy(t, dtype) for t in (weights, value, context)
    )
    return replace(
        call,
        query=query,
        key=key,
        rule=rule,
        weights=weights,
        value=value,
        context=context,
        seen=key.shape[-2],
        found=found,
    )


def follows(call: Call, before: Sequence[Call], cross: bool) -> bool:
    """Whether ``call`` is a further step of a decoding that keeps its keys."""
    first, last = before[0], before[-1]
    if call.key.shape[:2] != first.key.shape[:2]:
        return False
    if not call.key.shape[-1] and call.queries < call.seen:
        raise RegardError(
            "a further call in the same block may be a step of generate or another text, and this "
            "family's weights do not say which: observe one pass over the finished text"
        )
    if cross:
        return call.key.shape == first.key.shape and torch.equal(call.key, first.key)
    if call.seen <= call.queries:
        return False
    total = sum(c.key.shape[-2] for c in before)
    static = first.seen > first.queries and call.seen == last.seen
    if static or call.seen > total + call.queries:
        raise RegardError(
            "a step had keys of positions that were not seen before, as with a static cache: the "
            "steps cannot be joined into one map; generate with the default (dynamic) cache"
        )
    return first.seen == first.queries or call.seen == last.seen + call.queries


def step(call: Call, before: Sequence[Call], cross: bool) -> Call:
    """``call`` with only what is new in it: its queries, and the keys of its own positions."""
    if cross:
        return replace(call, key=call.key[:, :, :0], value=_last(call.value, 0))
    old = call.key[:, :, -call.queries - 1]
    last = [c for c in before if c.key.shape[-2]][-1].key[:, :, -1]
    if not torch.equal(old, last):
        raise RegardError(
            "the rows of the batch changed places between two steps, as beam search does: the "
            "steps make no one map; generate with num_beams=1, or observe one pass over the "
            "finished text"
        )
    value = _last(call.value, call.queries)
    return replace(call, key=call.key[:, :, -call.queries :].clone(), value=value)


def joined(calls: Sequence[Call], cross: bool) -> Call:
    """All steps as one call: queries and keys of all, each query seeing what it saw in its step."""
    first = calls[0]
    if len(calls) == 1:
        return first
    query = torch.cat([c.query for c in calls], -2)
    key = torch.cat([c.key for c in calls], -2)
    queries, keys = query.shape[-2], key.shape[-2]
    starts, end = [], 0  # where each step's keys begin among all keys
    for call in calls:
        end += call.key.shape[-2]
        starts.append(end - call.seen)
    if first.weights is not None:
        weights = _joined_weights(calls, starts, keys)
        return Call(query, key, first.rule, weights, seen=keys)
    if not cross and queries == keys and _all_causal(calls, starts):
        mask: Mask | None = Mask(causal=True)
    elif all(c.rule.mask is None for c in calls) and cross:
        mask = None
    else:
        mask = Mask(allowed=_joined_masks(calls, starts, keys))
    bias = None
    if any(c.rule.bias is not None for c in calls):
        bias = _joined_biases(calls, starts, keys)
    rule = replace(first.rule, mask=mask, bias=bias)
    value, context = (
        _joined_parts(parts) for parts in ([c.value for c in calls], [c.context for c in calls])
    )
    return Call(query, key, rule, None, value, context, keys)


def _joined_parts(parts: Sequence[Tensor | None]) -> Tensor | None:
    there = [part for part in parts if part is not None]
    return torch.cat(there, -2) if len(there) == len(parts) else None


def _last(value: Tensor | None, count: int) -> Tensor | None:
    """The last ``count`` positions, and a copy of their own."""
    return None if value is None else value[:, :, value.shape[2] - count :].clone()


def _joined_weights(calls: Sequence[Call], starts: Sequence[int], keys: int) -> Tensor:
    """Rows of all steps; keys that were not there yet, or no longer, have no weight."""
    rows = []
    for call, start in zip(calls, starts, strict=True):
        assert call.weights is not None
        rows.append(torch.nn.functional.pad(call.weights, (start, keys - start - call.seen)))
    return torch.cat(rows, -2)


def _all_causal(calls: Sequence[Call], starts: Sequence[int]) -> bool:
    first = calls[0].rule.mask
    if first is None or not first.causal or first.allowed is not None or first.before is not None:
        return False
    later = all(c.rule.mask is None and c.queries == 1 for c in calls[1:])
    return later and not any(starts)


def _joined_masks(calls: Sequence[Call], starts: Sequence[int], keys: int) -> Tensor:
    parts = []
    for call, start in zip(calls, starts, strict=True):
        rows, seen = call.queries, call.seen
        mask = call.rule.mask or Mask()
        device = call.query.device
        tile = mask.tile((0, rows), (0, seen), rows, seen, device)
        if tile is None:
            tile = torch.ones(rows, seen, dtype=torch.bool, device=device)
        tile = tile.expand(*tile.shape[:-2], rows, seen)
        tile = tile[(None,) * (4 - tile.dim())]
        parts.append(torch.nn.functional.pad(tile, (start, keys - start - seen), value=False))
    return _stacked(parts)


def _joined_biases(calls: Sequence[Call], starts: Sequence[int], keys: int) -> Tensor:
    parts = []
    for call, start in zip(calls, starts, strict=True):
        rows, seen = call.queries, call.seen
        bias = call.rule.bias
        if bias is None:
            bias = call.query.new_zeros(1, 1, rows, seen)
        bias = bias.expand(*bias.shape[:-2], rows, seen)
        bias = bias[(None,) * (4 - bias.dim())]
        parts.append(torch.nn.functional.pad(bias, (start, keys - start - seen)))
    return _stacked(parts)


def _stacked(parts: list[Tensor]) -> Tensor:
    """One below the other, those of all heads or of the whole batch repeated where they must be."""
    batch, heads = (max(part.shape[axis] for part in parts) for axis in (0, 1))
    return torch.cat([part.expand(batch, heads, -1, -1) for part in parts], -2)


def _rule_of_heads(rule: Rule, heads: list[int]) -> Rule:
    mask, bias = rule.mask, rule.bias
    if mask is not None and mask.allowed is not None and mask.allowed.dim() == 4:
        allowed = mask.allowed
        mask = replace(mask, allowed=allowed if allowed.shape[1] == 1 else allowed[:, heads])
    if bias is not None and bias.dim() >= 3 and bias.shape[-3] != 1:
        bias = bias[..., heads, :, :]
    return replace(rule, mask=mask, bias=bias)


def _copy(tensor: Tensor, dtype: torch.dtype | None) -> Tensor:
    return tensor.detach().to(
        dtype or tensor.dtype, copy=True, memory_format=torch.contiguous_format
    )
