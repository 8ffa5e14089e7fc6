"""Layer: the attention of one layer as it was observed, from which maps are made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import torch
from torch import Tensor

from regard.attention.map import AttentionMap, HeadMap, StoredMap
from regard.attention.mask import Mask
from regard.attention.rule import Rule
from regard.attention.statistics import BLOCK_NUMBERS, of_weights, statistics
from regard.attention.wanted import Statistics, Wanted
from regard.errors import RegardError
from regard.inside.observe.call import Call, joined


@dataclass(frozen=True)
class Item:
    """One batch item of a layer, padding removed."""

    query: Tensor
    """(heads, queries, d)"""
    key: Tensor
    """(key heads, keys, d)"""
    rule: Rule
    rows: Tensor
    """Which positions of the batch's queries these are."""
    columns: Tensor
    weights: Tensor | None = None
    """(heads, queries, keys), if the layer gave its weights and nothing else."""
    found: Statistics | None = None
    """What came with the output, if it was asked for and there is no padding."""
    value: Tensor | None = None
    """(key heads, keys, w), if values were kept."""
    context: Tensor | None = None
    """(heads, queries, w): what the model itself mixed of them."""

    def statistics(self, wanted: Wanted) -> Statistics:
        """Of all heads in one pass; weights that the layer gave are taken as they are."""
        if self.weights is not None:
            return of_weights(self.weights, wanted)
        return statistics(self.query, self.key, self.rule, wanted)


def rule_of_weights(weights: Tensor) -> Rule:
    """The rule that gives these weights between queries and keys that are empty."""
    return Rule(1.0, None, weights.float().log())


@dataclass
class ObservedLayer:
    """One attention layer: where it is, and what its heads compare."""

    name: str
    """The module's name in the model."""
    kind: str
    """"self" or "cross"."""
    part: str
    """"encoder" or "decoder" if the module's name says so, else empty."""
    number: int
    """Counted from 0 among the layers of this kind and part."""
    chosen: tuple[int, ...] | None = None
    """The heads that are kept, if not all."""
    calls: list[Call] = field(default_factory=list, repr=False)
    _items: dict[int, Item] = field(default_factory=dict, repr=False)
    _whole: Call | None = field(default=None, repr=False)

    def begin(self, call: Call) -> None:
        """Forget what was seen: a new text begins."""
        self.calls = []
        self.go_on(call)

    def go_on(self, call: Call) -> None:
        """A further step of the same text."""
        self.calls.append(call)
        self._items, self._whole = {}, None

    def drop(self) -> None:
        """Let go of queries and keys."""
        self.calls, self._items, self._whole = [], {}, None

    @property
    def whole(self) -> Call:
        """All steps as one."""
        if not self.calls:
            raise RegardError(
                f"queries and keys of {self.name!r} were dropped after observe(each=…) was called "
                "with it: look at them there, or observe without each"
            )
        if self._whole is None:
            self._whole = joined(self.calls, self.kind == "cross")
        return self._whole

    @property
    def query(self) -> Tensor:
        """(batch, heads, queries, d), as the layer compared them: positions are in them."""
        return self.whole.query

    @property
    def key(self) -> Tensor:
        """(batch, key heads, keys, d)"""
        return self.whole.key

    @property
    def rule(self) -> Rule:
        """Scale, mask, bias and soft cap of the whole batch, padding included."""
        return self.whole.rule

    @property
    def heads(self) -> int:
        """How many heads are kept."""
        return self.query.shape[1]

    @property
    def key_heads(self) -> int:
        return self.key.shape[1]

    def item(self, batch: int = 0) -> Item:
        """One batch item without its padding, the keys that no query may see.

        In self-attention of as many queries as keys the queries of these positions go too.
        """
        size = self.query.shape[0]
        if not -size <= batch < size:
            raise RegardError(f"batch item {batch} is outside the batch: there are {size}, from 0")
        batch %= size
        if batch not in self._items:
            self._items[batch] = _item(self.whole, batch, self.kind == "cross")
        return self._items[batch]

    def map(
        self,
        head: int,
        batch: int = 0,
        queries: list[str] | None = None,
        keys: list[str] | None = None,
    ) -> AttentionMap:
        """The map of one head, counted as the model counts its heads."""
        item, place = self.item(batch), self.place(head)
        queries, keys = queries or [], keys or []
        if item.weights is not None:
            return StoredMap(item.weights[place], queries=queries, keys=keys)
        return HeadMap(
            item.query[place],
            item.key[place // (self.heads // self.key_heads)],
            **vars(item.rule.of_head(place)),
            queries=queries,
            keys=keys,
        )

    def place(self, head: int) -> int:
        """Where ``head`` is among the heads that are kept."""
        if self.chosen is not None:
            if head not in self.chosen:
                raise RegardError(
                    f"head {head} was not observed: observe(heads=…) chose {list(self.chosen)}"
                )
            return self.chosen.index(head)
        if not -self.heads <= head < self.heads:
            raise RegardError(f"head {head} is outside the layer: there are {self.heads}, from 0")
        return head % self.heads


def _item(call: Call, batch: int, cross: bool) -> Item:
    query, key, rule = call.query[batch], call.key[batch], call.rule
    queries, keys = query.shape[-2], key.shape[-2]
    rows = torch.arange(queries, device=query.device)
    columns = torch.arange(keys, device=query.device)
    mask, bias = rule.mask, _of_item(rule.bias, batch)
    weights = None if call.weights is None else call.weights[batch]
    value = None if call.value is None else call.value[batch]
    context = None if call.context is None else call.context[batch]
    if weights is not None:
        told = weights if call.unchanged is None else call.unchanged[batch]
        rows, columns = _seen_weights(told, rows, columns)
        weights = weights[:, rows][..., columns]
        query, key = (
            query.new_zeros(len(query), len(rows), 1),
            key.new_zeros(len(key), len(columns), 1),
        )
        return Item(query, key, rule_of_weights(weights), rows, columns, weights)
    if mask is not None and mask.allowed is not None:
        allowed = _of_item(mask.allowed, batch)
        assert allowed is not None
        seen = allowed.any(-2).flatten(0, -2).any(0).expand(keys)
        if not cross and queries == keys:
            seen = _tokens_of(seen, allowed.expand(-1, queries, keys))
        columns = columns[seen]
        if not cross and queries == keys:
            rows = columns
        elif not cross:
            rows = rows[allowed.any(-1).flatten(0, -2).any(0).expand(queries)]
        allowed = _cut(allowed, rows, columns)
        mask = _plain(replace(mask, allowed=allowed), len(rows), len(columns))
        query, key = query[:, rows], key[:, columns]
        value = None if value is None else value[:, columns]
        context = None if context is None else context[:, rows]
        bias = None if bias is None else _cut(bias, rows, columns)
    found = None
    if call.found is not None and (len(rows), len(columns)) == (queries, keys):
        found = call.found.each(lambda tensor: tensor[batch])
    rule = replace(rule, mask=mask, bias=bias)
    return Item(query, key, rule, rows, columns, found=found, value=value, context=context)


def _seen_weights(weights: Tensor, rows: Tensor, columns: Tensor) -> tuple[Tensor, Tensor]:
    """Positions whose key has weight from some query: a key that gets none at all is padding."""
    if weights.shape[-1] != weights.shape[-2]:
        return rows, columns
    seen = (weights != 0).any(-2).any(0)
    return rows[seen], columns[seen]


def _tokens_of(seen: Tensor, allowed: Tensor) -> Tensor:
    """The keys that some query sees: the others are padding.

    Unless tokens see others with gaps between them, as in sparse attention: there one that nobody
    looks at need not be padding, and all are kept.
    """
    if not bool(seen.any()):
        return seen
    for rows in _blocks(allowed.shape[-2], allowed.shape[-1]):
        among = allowed[:, rows][:, seen[rows]][..., seen]
        begins = among[..., 1:] & ~among[..., :-1]
        if bool((begins.sum(-1) + among[..., 0] > 1).any()):
            return torch.ones_like(seen)
    return seen


def _blocks(rows: int, columns: int) -> Iterator[slice]:
    """Some rows at a time of a mask, which may be large."""
    few = max(1, BLOCK_NUMBERS // max(columns, 1))
    return (slice(first, min(first + few, rows)) for first in range(0, rows, few))


def _of_item(tensor: Tensor | None, batch: int) -> Tensor | None:
    """(heads or 1, …) of one batch item, of a tensor broadcastable to (batch, heads, q, k)."""
    if tensor is None:
        return None
    tensor = tensor[(None,) * (4 - tensor.dim())]
    return tensor[batch if tensor.shape[0] > 1 else 0]


def _cut(tensor: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    if tensor.shape[-1] not in (1, len(columns)):  # as many as there are: all of them, in order
        tensor = tensor[..., columns]
    return tensor if tensor.shape[-2] in (1, len(rows)) else tensor[..., rows, :]


def _plain(mask: Mask, queries: int, keys: int) -> Mask | None:
    """The same mask by rules alone if it is causal or a window of the past; they cost nothing."""
    allowed = mask.allowed
    if allowed is None or queries == 0 or keys == 0:
        return mask
    rules = replace(mask, allowed=None)
    if bool(allowed.all()):
        return rules if rules.causal or rules.reach != (None, None) else None
    if queries != keys or allowed.shape[-2] == 1 or rules.reach != (None, None):
        return mask
    width = int(allowed[0, -1].sum())
    for guess in (Mask(causal=True), Mask(causal=True, before=max(0, width - 1))):
        if _same(allowed, guess):
            return guess
    return mask


def _same(allowed: Tensor, rules: Mask) -> bool:
    """Whether a mask (…, n, n) is what ``rules`` without a tensor of their own say."""
    n = allowed.shape[-1]
    for rows in _blocks(n, n):
        tile = rules.tile((rows.start, rows.stop), (0, n), n, n, allowed.device)
        assert tile is not None
        if not bool((allowed[..., rows, :] == tile).all()):
            return False
    return True
