"""Look: what all heads of a model do with one text, layer by layer as the model runs.

Queries and keys of a layer are there while it is looked at and then dropped: memory is that of
one layer and of blocks of its scores, at any length.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.attention.map import AttentionMap, HeadMap, Link, Word, word_sums
from regard.attention.statistics import (
    BLOCK_NUMBERS,
    Statistics,
    largest,
    reach,
    scores_of,
    statistics,
    to_weights,
)
from regard.errors import RegardError
from regard.inside.heads.kinds import Scored, scored
from regard.inside.heads.pairs import weights_between, without_keys
from regard.inside.heads.patterns import Patterns
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.observe.observe import observe
from regard.inside.textmodel import PARTS, TextModel
from regard.pieces.text import TextPieces

PER_ROW = 8
"""Largest weights of each row among which the strongest links are sought."""

Floats = NDArray[np.float32]


@dataclass(frozen=True)
class LookRequest:
    """What to look at besides the kinds of heads."""

    part: str = ""
    """"encoder", "decoder" or "cross" of a model that has both; else empty."""
    layer: int | None = None
    """Only this layer."""
    head: int | None = None
    """Keep the map of this head of the layer."""
    word: str | None = None
    words: bool = False
    """Words instead of tokens."""
    no_sink: bool = False
    """Leave out the first token and special ones, and share each row out over the rest."""
    links: int = 10
    """How many of each head's strongest links to keep."""
    cells: int = 0
    """Keep a pooled picture of every head of at most this many cells on a side."""
    link: tuple[str, str] | None = None
    """Two words: keep every head's weight from the first to the second."""


@dataclass(frozen=True)
class Place:
    """A word that was asked for, and what every head does with it."""

    word: Word
    times: int
    """How often it occurs; this is one of them."""
    to: dict[int, Floats] = field(default_factory=dict)
    """By layer, (heads, keys): what the word attends to."""
    by: dict[int, Floats] = field(default_factory=dict)
    """By layer, (heads, queries): who attends to it."""


@dataclass
class Look:
    """The answer; ``done`` of ``layers`` layers if it was stopped."""

    model: str
    wish: LookRequest
    queries: TextPieces
    keys: TextPieces
    layers: int = 0
    done: int = 0
    heads: dict[tuple[int, int], Scored] = field(default_factory=dict)
    sink: dict[int, float] = field(default_factory=dict)
    """By layer: the share of all its weight that the first token and special ones get."""
    links: dict[tuple[int, int], list[Link]] = field(default_factory=dict)
    """By layer and head: the strongest links between two different tokens (or words) of the text
    itself: none to the first token, none from or to special ones."""
    place: Place | None = None
    weights: dict[tuple[int, int], float] = field(default_factory=dict)
    """By layer and head: the weight of the link that was asked for."""
    pooled: dict[tuple[int, int], Floats] = field(default_factory=dict)
    map: AttentionMap | None = None
    """Of the head that was asked for."""

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """Texts of queries and keys: of tokens, or of words."""
        sides = (self.queries, self.keys)
        if self.wish.words:
            return tuple([w.text for w in side.words] for side in sides)  # type: ignore[return-value]
        return self.queries.texts, self.keys.texts

    @property
    def left_out(self) -> tuple[set[int], set[int]]:
        """Queries and keys that ``no_sink`` does not show."""
        if not self.wish.no_sink:
            return set(), set()
        both = [each(side, side.sinks, self.wish.words) for side in (self.queries, self.keys)]
        rows, columns = ({i for i, sink in enumerate(sinks) if sink} for sinks in both)
        return rows, columns


class Stopped(Exception):  # noqa: N818
    """Ctrl-C between two layers."""


def look(
    model: TextModel,
    tokens: TextPieces,
    wish: LookRequest | None = None,
    *,
    target: TextPieces | None = None,
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
) -> Look:
    """Run ``model`` over a text and look at every layer (of ``wish.part``) as it runs.

    ``stop`` ends the pass after the layer at work; what is finished is returned.
    """
    looker = Looker(model, tokens, wish or LookRequest(), target)

    def add(layer: ObservedLayer) -> None:
        if looker.wants(layer):
            looker.add(layer)
            if progress:
                progress(looker.result.done, looker.result.layers)
        if stop is not None and stop.is_set():
            raise Stopped

    try:
        with observe(model.network, each=add, statistics=looker.wanted):
            model.run(tokens, target)
    except Stopped:
        pass
    looker.check()
    return looker.result


class Looker:
    """Adds one layer after the other to a :class:`Look`."""

    def __init__(
        self,
        model: TextModel,
        tokens: TextPieces,
        wish: LookRequest,
        target: TextPieces | None = None,
    ) -> None:
        if model.has_both != bool(wish.part) or (wish.part and wish.part not in PARTS):
            raise RegardError(
                f"part must be one of {', '.join(PARTS)} for a model with an encoder and a "
                f"decoder, and empty for any other; {model.name} with {wish.part!r}"
            )
        queries = tokens if wish.part in ("", "encoder") else target
        keys = target if wish.part == "decoder" else tokens
        assert queries is not None
        assert keys is not None
        self.wish = wish
        self.cross = wish.part == "cross"
        self.model_layers = model.layers
        layers = 1 if wish.layer is not None else model.layers
        self.result = Look(model.name, wish, queries, keys, layers)
        self.patterns = Patterns(keys, self.cross)
        self.ends: tuple[Word, Word] | None = None
        if wish.word is not None:
            side = keys if self.cross else queries
            self.result.place = Place(*side.word(wish.word))
        if wish.link is not None:
            self.ends = queries.word(wish.link[0])[0], keys.word(wish.link[1])[0]

    def wants(self, layer: ObservedLayer) -> bool:
        if self.wish.layer is not None and layer.number != self.wish.layer:
            return False
        if not self.wish.part:
            return layer.kind == "self"
        kind = layer.kind if layer.kind == "cross" else layer.part
        return kind == self.wish.part

    def add(self, layer: ObservedLayer) -> None:
        """All heads of one layer."""
        item, number, result = layer.item(), layer.number, self.result
        found = item.found or self._statistics(item)
        sinks = torch.tensor(self.result.keys.sinks)
        assert found.received is not None
        got = found.received.double().cpu()
        result.sink[number] = float(got[:, sinks].sum() / got.sum().clamp_min(1e-30))
        if self.wish.no_sink:
            item = without_keys(item, sinks)
            found = self._statistics(item)
        for head, seen in enumerate(scored(self.patterns.tally(item, found))):
            result.heads[number, head] = seen
        if self.wish.links:
            self._add_links(number, item, found)
        self._add_words(number, item, found)
        for head in range(item.query.shape[0]):
            if found.pooled_max is not None:
                result.pooled[number, head] = found.pooled_max[head].cpu().numpy()
        if self.wish.head is not None and number == self.wish.layer:
            result.map = self._map(item, found, self.wish.head)
        result.done += 1

    def check(self) -> None:
        """A layer or head that is not there is told by those that are."""
        wish, result = self.wish, self.result
        if wish.layer is not None and result.done == 0 and not result.heads:
            raise RegardError(
                f"layers are counted from 0: {result.model} has {self.model_layers}, "
                f"got {wish.layer}"
            )

    @property
    def wanted(self) -> dict[str, int]:
        """Statistics that are computed with the attention itself where that is possible."""
        top = 0 if self.wish.words or not self.wish.links else PER_ROW
        return {"top": top, "entropy": True, "received": True, "cells": self.wish.cells}

    def _statistics(self, item: Item) -> Statistics:
        top, cells = self.wanted["top"], self.wanted["cells"]
        return statistics(
            item.query, item.key, item.rule, top=top, entropy=True, received=True, cells=cells
        )

    def _add_links(self, layer: int, item: Item, found: Statistics) -> None:
        queries, keys = self.result.queries, self.result.keys
        if self.wish.words:
            top, where = word_tops(item, found.lse, queries.words, keys.words, PER_ROW)
        else:
            assert found.top_weights is not None
            assert found.top_keys is not None
            top, where = found.top_weights.cpu(), found.top_keys.cpu()
        words = self.wish.words
        rows = torch.tensor(each(queries, queries.special, words))
        bad = torch.tensor(each(keys, keys.sinks, words))[where] | rows.unsqueeze(-1)
        if not self.cross:
            bad |= where == torch.arange(len(rows)).unsqueeze(-1)
        wide = where.shape[2]
        values, places = (
            top.masked_fill(bad, 0).flatten(1).topk(min(self.wish.links, top[0].numel()))
        )
        columns = where.flatten(1).gather(1, places)
        for head in range(len(values)):
            self.result.links[layer, head] = [
                Link(place // wide, key, weight)
                for place, key, weight in zip(
                    *(x[head].tolist() for x in (places, columns, values)), strict=True
                )
                if weight > 0
            ]

    def _add_words(self, layer: int, item: Item, found: Statistics) -> None:
        """What was asked for by name: a word's rows and columns, a link."""
        place, device = self.result.place, item.query.device
        if self.ends is not None:
            rows, columns = (_span(word, device) for word in self.ends)
            weights = weights_between(item, found.lse, rows, columns)[:, 0]
            for head, weight in enumerate(weights.sum(-1).mean(-1).tolist()):
                self.result.weights[layer, head] = weight
        if place is None:
            return
        here = _span(place.word, device)
        queries, keys = self.result.queries, self.result.keys
        everything = [
            torch.arange(n, device=device).unsqueeze(0) for n in (len(queries), len(keys))
        ]
        if not self.cross:
            to = weights_between(item, found.lse, here, everything[1])[:, 0].mean(-2)
            to = word_sums(to, keys.words, -1) if self.wish.words else to
            place.to[layer] = to.cpu().numpy()
        by = weights_between(item, found.lse, everything[0], here)[:, 0].sum(-1)
        by = word_sums(by, queries.words, -1, mean=True) if self.wish.words else by
        place.by[layer] = by.cpu().numpy()

    def _map(self, item: Item, found: Statistics, head: int) -> AttentionMap:
        heads = item.query.shape[0]
        if not 0 <= head < heads:
            raise RegardError(f"heads are counted from 0: this layer has {heads}, got {head}")
        rule = item.rule
        mask, bias = rule.mask, rule.bias
        if mask is not None and mask.allowed is not None:
            mask = replace(mask, allowed=_of_head(mask.allowed, head))
        made = HeadMap(
            item.query[head].clone(),
            item.key[head // (heads // item.key.shape[0])].clone(),
            scale=rule.scale,
            mask=mask,
            bias=None if bias is None else _of_head(bias, head).clone(),
            softcap=rule.softcap,
            lse=found.lse[head],
            queries=self.result.queries.texts,
            keys=self.result.keys.texts,
        )
        if self.wish.words:
            return made.by_word(self.result.queries.words, self.result.keys.words)
        return made


def each(tokens: TextPieces, of: list[bool], words: bool) -> list[bool]:
    """``of`` for each token, or for each word by its first token."""
    return [of[word.start] for word in tokens.words] if words else of


def word_tops(
    item: Item, lse: Tensor, queries: list[Word], keys: list[Word], k: int
) -> tuple[Tensor, Tensor]:
    """The k largest weights between words in each row, (heads, words, k), and their keys.

    Blocks of whole words, and only keys within their reach; what is left of k is 0.
    """
    heads, n, _ = item.query.shape
    top = torch.zeros(heads, len(queries), k)
    where = torch.zeros(heads, len(queries), k, dtype=torch.long)
    owner = torch.arange(len(keys)).repeat_interleave(_lengths(keys)).to(item.query.device)
    room = max(1, BLOCK_NUMBERS // (heads * item.key.shape[1]))
    for first, last in _runs(queries, room):
        rows = queries[first].start, queries[last - 1].stop
        columns = reach(item.rule.mask, rows, n, item.key.shape[1])
        scores = scores_of(item.query, item.key, item.rule, rows, columns)
        weights = to_weights(scores, lse[:, slice(*rows)])
        weights = word_sums(weights, queries[first:last], -2, mean=True)
        here = owner[slice(*columns)] - owner[columns[0]]
        sums = weights.new_zeros(heads, last - first, int(here[-1]) + 1)
        sums.index_add_(-1, here, weights)
        values, places = largest(sums, k)
        top[:, first:last, : values.shape[-1]] = values.cpu()
        where[:, first:last, : values.shape[-1]] = places.cpu() + int(owner[columns[0]])
    return top, where


def _runs(words: list[Word], room: int) -> Iterator[tuple[int, int]]:
    """Runs of words, (first, last), of about ``room`` tokens, each of one word at least."""
    first = 0
    for i, word in enumerate(words):
        if i > first and word.stop - words[first].start > room:
            yield first, i
            first = i
    if words:
        yield first, len(words)


def _lengths(words: list[Word]) -> Tensor:
    return torch.tensor([word.stop - word.start for word in words])


def _span(word: Word, device: torch.device) -> Tensor:
    return torch.arange(word.start, word.stop, device=device).unsqueeze(0)


def _of_head(tensor: Tensor, head: int) -> Tensor:
    return tensor[head if tensor.shape[0] > 1 else 0] if tensor.dim() == 3 else tensor
