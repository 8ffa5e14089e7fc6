"""Look: what all heads of a model do with one text, layer by layer as the model runs.

Queries and keys of a layer are there while it is looked at and then dropped: memory is that of
one layer and of blocks of its scores, at any length. Only a page keeps them, of all its layers, and
has a largest size.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch
from torch import Tensor

from regard.attention.map import AttentionMap, HeadMap, StoredMap, word_sums
from regard.attention.rule import to_weights
from regard.attention.statistics import BLOCK_NUMBERS, largest
from regard.attention.wanted import Statistics, Wanted
from regard.errors import ModelError, RegardError
from regard.inside.heads.entries import weights_between, without_keys
from regard.inside.heads.kinds import scored
from regard.inside.heads.patterns import Patterns
from regard.inside.look.measured import PageMeasures, start_measure
from regard.inside.look.page import PageLayers
from regard.inside.measures.measure import Measure
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.observe.observe import observe
from regard.inside.observe.places import is_of
from regard.inside.realmodel import RealModel
from regard.inside.textmodel import PARTS
from regard.pieces.look import Look, LookRequest, WordPlace
from regard.pieces.pieces import Pieces
from regard.text import Word

PER_ROW = 8
"""Largest weights of each row among which the strongest links are sought."""


class Stopped(Exception):  # noqa: N818
    """Ctrl-C between two layers."""


def look(
    model: RealModel,
    tokens: Pieces,
    request: LookRequest | None = None,
    *,
    target: Pieces | None = None,
    progress: Callable[[int, int], None] | None = None,
    stop: threading.Event | None = None,
) -> Look:
    """Run ``model`` over a text and look at every layer (of ``request.part``) as it runs.

    ``stop`` ends the pass after the layer at work; what is finished is returned.
    """
    request = request or LookRequest()
    looker = Looker(model, tokens, request, target)
    page = None
    if request.page:
        measures = PageMeasures(model, tokens, target, request.measures, request.goal)
        page = PageLayers(model, tokens, target, request.layers, measures)
        looker.measure = measures.running.get(request.measure)
        looker.result.scored = measures.found[request.measure].scored if request.measure else ""
    elif request.measure:
        started = start_measure(request.measure, model, tokens, target, request.goal)
        looker.measure, looker.result.scored = started

    def add(layer: ObservedLayer) -> None:
        if page is not None:
            page.add(layer)
        item = looker.item(layer)
        if item is not None and looker.wants(layer):
            looker.add(layer, item)
            if progress:
                progress(looker.result.done, looker.result.layers)
        if stop is not None and stop.is_set():
            raise Stopped

    statistics = False if request.measure else looker.wanted
    values = page is not None or bool(request.measure)
    try:
        with observe(model.network, each=add, statistics=statistics, values=values):
            model.run(tokens, target)
        if page is not None and page.sheets:
            page.check()
            looker.result.page = page.subject()
    except Stopped:
        pass
    looker.check()
    return looker.result


class Looker:
    """Adds one layer after the other to a :class:`Look`."""

    def __init__(
        self,
        model: RealModel,
        tokens: Pieces,
        request: LookRequest,
        target: Pieces | None = None,
    ) -> None:
        if model.has_both != bool(request.part) or (request.part and request.part not in PARTS):
            raise RegardError(
                f"part must be one of {', '.join(PARTS)} for a model with an encoder and a "
                f"decoder, and empty for any other; {model.name} with {request.part!r}"
            )
        queries = tokens if request.part in ("", "encoder") else target
        keys = target if request.part == "decoder" else tokens
        assert queries is not None
        assert keys is not None
        self.request, self.tokens = request, tokens
        self.cross = request.part == "cross"
        self.model_layers = model.layers
        layers = 1 if request.layer is not None else model.layers
        self.result = Look(model.name, request, queries, keys, layers)
        self.patterns = Patterns(keys, self.cross)
        self.measure: Measure | None = None
        self.ends: tuple[Word, Word] | None = None
        if request.word is not None:
            side = keys if self.cross else queries
            word, times = side.word(request.word)
            self.result.place = WordPlace(word.text, word.start, word.stop, times)
        if request.link is not None:
            self.ends = queries.word(request.link[0])[0], keys.word(request.link[1])[0]

    def wants(self, layer: ObservedLayer) -> bool:
        return self.request.layer is None or layer.number == self.request.layer

    def item(self, layer: ObservedLayer) -> Item | None:
        """What is looked at of a layer of the part that was asked for; None of any other layer.

        A measure sees every layer of the part: one may go on from the layers before.
        """
        if not is_of(self.request.part, layer.kind, layer.part):
            return None
        return layer.item() if self.measure is None else self.measure(layer)

    def add(self, layer: ObservedLayer, item: Item) -> None:
        """All heads of one layer."""
        number, result = layer.number, self.result
        shape = item.query.shape[1], item.key.shape[1]
        if shape != (len(result.queries), len(result.keys)):
            raise ModelError(
                f"layer {number} of {result.model} attends from {shape[0]} pieces to {shape[1]}, "
                f"and {len(result.queries)} and {len(result.keys)} were read: regard does not "
                "know what they stand for"
            )
        found = item.found or self._statistics(item)
        sinks = torch.tensor(self.result.keys.sinks)
        assert found.received is not None
        got = found.received.double().cpu()
        result.sink[number] = float(got[:, sinks].sum() / got.sum().clamp_min(1e-30))
        if self.request.no_sink:
            item = without_keys(item, sinks)
            found = self._statistics(item)
        for head, seen in enumerate(scored(self.patterns.tally(item, found))):
            result.heads[number, head] = seen
        if self.request.links:
            self._add_links(number, item, found)
        self._add_words(number, item, found)
        for head in range(item.query.shape[0]):
            if found.pooled_max is not None:
                result.pooled[number, head] = found.pooled_max[head].cpu().numpy()
        if self.request.head is not None and number == self.request.layer:
            result.map = self._map(item, found, self.request.head)
        result.done += 1

    def check(self) -> None:
        """A layer or head that is not there is told by those that are."""
        request, result = self.request, self.result
        if request.layer is not None and result.done == 0 and not result.heads:
            raise RegardError(
                f"layers are counted from 0: {result.model} has {self.model_layers}, "
                f"got {request.layer}"
            )

    @property
    def wanted(self) -> Wanted:
        """Statistics that are computed with the attention itself where that is possible."""
        top = 0 if self.request.words or not self.request.links else PER_ROW
        return Wanted(top, entropy=True, received=True, cells=self.request.cells)

    def _statistics(self, item: Item) -> Statistics:
        return item.statistics(self.wanted)

    def _add_links(self, layer: int, item: Item, found: Statistics) -> None:
        queries, keys = self.result.queries, self.result.keys
        if self.request.words:
            top, where = word_tops(item, found.lse, queries.words, keys.words, PER_ROW)
        else:
            assert found.top_weights is not None
            assert found.top_keys is not None
            top, where = found.top_weights.cpu(), found.top_keys.cpu()
        silent = queries.silent
        ends = [a or b for a, b in zip(keys.sinks, keys.unknown, strict=True)]
        if self.request.words:
            silent, ends = queries.by_word(silent), keys.by_word(ends)
        rows = torch.tensor(silent)
        bad = torch.tensor(ends)[where] | rows.unsqueeze(-1)
        if not self.cross:
            bad |= where == torch.arange(len(rows)).unsqueeze(-1)
        wide = where.shape[2]
        values, places = (
            top.masked_fill(bad, 0).flatten(1).topk(min(self.request.links, top[0].numel()))
        )
        columns = where.flatten(1).gather(1, places)
        for head in range(len(values)):
            self.result.links[layer, head] = [
                (place // wide, key, weight)
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
        here = _span(place, device)
        queries, keys = self.result.queries, self.result.keys
        everything = [
            torch.arange(n, device=device).unsqueeze(0) for n in (len(queries), len(keys))
        ]
        if not self.cross:
            to = weights_between(item, found.lse, here, everything[1])[:, 0].mean(-2)
            to = word_sums(to, keys.words, -1) if self.request.words else to
            place.to[layer] = to.cpu().numpy()
        by = weights_between(item, found.lse, everything[0], here)[:, 0].sum(-1)
        by = word_sums(by, queries.words, -1, mean=True) if self.request.words else by
        place.by[layer] = by.cpu().numpy()

    def _map(self, item: Item, found: Statistics, head: int) -> AttentionMap:
        heads = item.query.shape[0]
        if not 0 <= head < heads:
            raise RegardError(f"heads are counted from 0: this layer has {heads}, got {head}")
        made = self._head(item, found, head)
        if self.request.words:
            return made.by_word(self.result.queries.words, self.result.keys.words)
        return made

    def _head(self, item: Item, found: Statistics, head: int) -> AttentionMap:
        queries, keys = self.result.queries.labels, self.result.keys.labels
        if item.weights is not None:
            return StoredMap(item.weights[head].clone(), queries=queries, keys=keys)
        rule = item.rule.of_head(head)
        if rule.bias is not None:
            rule = replace(rule, bias=rule.bias.clone())  # a map outlives its layer
        return HeadMap(
            item.query[head].clone(),
            item.key[head // (len(item.query) // len(item.key))].clone(),
            **vars(rule),
            lse=found.lse[head],
            queries=queries,
            keys=keys,
        )


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
        columns = item.rule.reach(rows, n, item.key.shape[1])
        scores = item.rule.scores(item.query, item.key, rows, columns)
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


def _span(word: Word | WordPlace, device: torch.device) -> Tensor:
    return torch.arange(word.start, word.stop, device=device).unsqueeze(0)
