"""Exploration: a text that a model has read, and what a page asks of it piece by piece; and what
if, carried through the same model.

Queries, keys and values of all layers are kept; weights are computed where somebody looks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.map import AttentionMap
from regard.attention.rule import softmax
from regard.attention.wanted import Wanted
from regard.errors import RegardError
from regard.inside.heads.kinds import scored
from regard.inside.heads.patterns import Patterns
from regard.inside.intervene.intervene import intervene
from regard.inside.look.measured import PageMeasures, measured_numbers
from regard.inside.look.page import PageLayers
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.observe.observation import Observation
from regard.inside.observe.observe import observe
from regard.inside.textmodel import TextModel
from regard.inside.whatif.outcome import outcome_of
from regard.inside.whatif.wish import Wish
from regard.pieces.heads import Scored
from regard.pieces.measures import MEASURES
from regard.pieces.outcome import ModelOutcome
from regard.pieces.pieces import Pieces
from regard.pieces.sheet import MeasureSheets, Sheet, Subject, as_array
from regard.trace import Array

TILE = 128
"""Cells on a side of a tile, as the page has them."""
THUMBNAIL = 48
WHOLE = 12_000_000
"""Numbers up to which a page gets all vectors at once; above it, what it asks for."""
LONG = 2048
"""Tokens from which on vectors are kept in half precision."""


class LayerHeads(NamedTuple):
    """All heads of a layer at a glance."""

    kinds: list[Scored]
    entropy: list[float]
    """The mean over all queries, in nats."""
    most: list[float]
    """The largest weight."""
    pictures: Array
    """(heads, cells, cells): the largest weight of each cell."""


@dataclass
class Exploration:
    """One text, the model (perhaps changed), what was observed of it and what it put out."""

    model: TextModel
    tokens: Pieces
    said: str | None
    """What a decoder is to read; None: what the model writes by itself."""
    text: str
    most: int | None = None
    """Tokens that a decoder may read."""
    wish: Wish = field(default_factory=Wish)
    base: Exploration | None = None
    """The unchanged one, of a wish."""
    target: Pieces | None = None
    outcome: ModelOutcome | None = None
    observation: Observation = field(default_factory=Observation)
    layer_heads: dict[int, LayerHeads] = field(default_factory=dict)
    maps: dict[tuple[int, int], AttentionMap] = field(default_factory=dict)

    def run(self, check: Callable[[], None]) -> None:
        """Run the model over the text; ``check`` is called before each module, and what it raises
        ends the pass."""
        dtype = torch.float16 if len(self.tokens) > LONG else None
        network = self.model.network
        with checked(network, check), self._changed():
            if self.model.has_both:
                self.target = self.model.target(self.tokens, self.said, self.most)
            with observe(network, dtype=dtype, values=True) as self.observation:
                output = self.model.run(self.tokens, self.target, last=True)
        written = self.target if self.said is None else None
        self.outcome = outcome_of(self.model, self.tokens, written, output, self.wish.temperature)

    @contextmanager
    def _changed(self) -> Iterator[None]:
        """Inside the block the model is as it is wished."""
        if self.base is None or not self.wish.reaches_in:
            yield
            return
        with intervene(self.model.network) as hands:
            self.wish.apply(hands, self.base.observation.layers, self.model.has_both)
            yield

    def measured(self, name: str) -> Measurement:
        """The same text with a measure in place of the weights; to be run."""
        return Measurement(
            self.model, self.tokens, self.said, self.text, self.most, base=self, name=name
        )

    def changed(self, wish: Wish) -> Exploration:
        """The same text, for the same model as it is wished; to be run."""
        base = self if self.base is None else self.base
        return Exploration(
            self.model, self.tokens, self.said, self.text, self.most, wish=wish, base=base
        )

    def beside(self) -> dict[str, Any]:
        """What the model puts out before and after the change, each for the page."""
        base = self if self.base is None else self.base
        if self.outcome is None or base.outcome is None:
            raise RegardError("this text has not been read yet")
        found = {"before": base.outcome.beside(base.outcome)}
        return found if self.base is None else found | {"after": self.outcome.beside(base.outcome)}

    @property
    def megabytes(self) -> float:
        """Of the vectors that are kept."""
        calls = [call for layer in self.observation for call in layer.calls]
        tensors = [t for c in calls for t in (c.query, c.key, c.value, c.context, c.weights)]
        return sum(t.numel() * t.element_size() for t in tensors if t is not None) / 1e6

    def subject(self) -> tuple[Subject, list[tuple[int, int]]]:
        """Everything of a short text; of a long one, what layers there are; and their shapes."""
        page = PageLayers(self.model, self.tokens, self.target)
        for layer in self.observation:
            page.add(layer)
        subject = page.subject(self.text)
        subject.measures = [MeasureSheets(name) for name in MEASURES]
        subject.model += "" if self.base is None else ", changed"
        shapes = [sheet.shape for sheet in subject.sheets]
        if subject.numbers > WHOLE:
            for sheet in subject.sheets:
                _empty(sheet)
        return subject, shapes

    def layer(self, number: int) -> ObservedLayer:
        layers = self.observation.layers
        if not 0 <= number < len(layers):
            raise RegardError(f"layers are counted from 0: there are {len(layers)}, got {number}")
        return layers[number]

    def heads(self, number: int) -> LayerHeads:
        """Kind, entropy, largest weight and a small picture of every head of a layer."""
        if number not in self.layer_heads:
            layer = self.layer(number)
            decoder = layer.part == "decoder" and self.target is not None
            tokens = self.target if decoder and self.target is not None else self.tokens
            self.layer_heads[number] = _heads(layer, tokens)
        return self.layer_heads[number]

    def link(self, row: int, column: int) -> list[list[float] | None]:
        """What token ``row`` gives to token ``column`` in each head, layer by layer; None for a
        layer that has no such tokens."""
        found = [_link(layer.item(), row, column) for layer in self.observation]
        if all(weights is None for weights in found):
            raise RegardError(
                f"no layer has a token {row} that could attend to a token {column}: tokens are "
                f"counted from 0, and the text has {len(self.tokens):,}"
            )
        return found

    def contexts(self, number: int, row: int) -> list[list[float]] | None:
        """What token ``row`` takes in each head of a layer: the sum of its weighted values."""
        layer = self.layer(number)
        item = layer.item()
        weights = _weights(item, row)
        if weights is None:
            raise RegardError(
                f"layer {number} has {len(item.rows):,} tokens, counted from 0; got {row}"
            )
        if item.value is None:
            return None
        values = item.value.repeat_interleave(layer.heads // layer.key_heads, 0)
        mixed: list[list[float]] = (weights.unsqueeze(1) @ values.to(weights)).squeeze(1).tolist()
        return mixed

    def head(self, number: int, head: int) -> Sheet:
        """The vectors of one head, or its weights."""
        layer = self.layer(number)
        item, place = layer.item(), layer.place(head)
        shared = place // (layer.heads // layer.key_heads)
        own, of_keys = slice(place, place + 1), slice(shared, shared + 1)
        sheet = Sheet(layer.name, layer.number, 0, 0, layer.kind, layer.part, (head,))
        sheet.set_rule(item.rule)
        sheet.allowed, sheet.bias = _one(sheet.allowed, place), _one(sheet.bias, place)
        if item.weights is not None:
            sheet.weights, sheet.bias = as_array(item.weights[own]), None
            return sheet
        sheet.query, sheet.key = as_array(item.query[own]), as_array(item.key[of_keys])
        sheet.value = None if item.value is None else as_array(item.value[of_keys])
        return sheet

    def map(self, number: int, head: int) -> AttentionMap:
        """A head's map; its log-sums are computed once."""
        if (number, head) not in self.maps:
            self.maps[number, head] = self.layer(number).map(head)
        return self.maps[number, head]

    def tile(self, number: int, head: int, level: int, down: int, across: int) -> Array:
        """TILE × TILE cells (fewer at an edge) of 2^level × 2^level weights, the largest of each.

        ``down`` and ``across`` count tiles.
        """
        of = self.map(number, head)
        queries, keys = of.shape
        span = TILE << level
        top, left = down * span, across * span
        if not (0 <= level <= 20 and 0 <= top < queries and 0 <= left < keys):
            raise RegardError(
                f"there is no tile {down}, {across} of level {level}: {queries} x {keys}"
            )
        bottom, right = min(queries, top + span), min(keys, left + span)
        size = 1 << level
        tall = max(size, (1 << 22) // max(1, right - left) // size * size)  # about 16 MB at a time
        strips = []
        for start in range(top, bottom, tall):
            block = of.block((start, min(bottom, start + tall)), (left, right))
            strips.append(F.max_pool2d(block[None], size, ceil_mode=True)[0])
        return as_array(torch.cat(strips))


@dataclass
class Measurement(Exploration):
    """A measure of a text that was explored, ``base``."""

    name: str = ""
    found: MeasureSheets | None = None

    def run(self, check: Callable[[], None]) -> None:
        assert self.base is not None
        self._refuse(self.base)
        self.target = self.base.target
        network = self.model.network
        with checked(network, check):
            measures = PageMeasures(self.model, self.tokens, self.target, (self.name,), unasked=())
            page = PageLayers(self.model, self.tokens, self.target, measures=measures)
            with observe(network, each=page.add, values=True):
                self.model.run(self.tokens, self.target)
        self.found = measures.found[self.name]

    def _refuse(self, base: Exploration) -> None:
        if base.wish.reaches_in:
            raise RegardError("measures are of the model as it is: take the change back")
        layers = [layer for layer in base.observation if layer.kind == "self"]
        n = len(self.tokens)
        numbers = sum(measured_numbers(layer.heads, n, (self.name,)) for layer in layers)
        if numbers > WHOLE:
            raise RegardError(
                f"{self.name} of {n:,} tokens has {numbers / 1e6:,.0f} million numbers, more than "
                f"{WHOLE / 1e6:.0f}: take a shorter text, or 'regard look --measure {self.name}'"
            )


@contextmanager
def checked(network: nn.Module, check: Callable[[], None]) -> Iterator[None]:
    """Inside the block ``check`` is called before each module runs."""
    with ExitStack() as stack:
        for module in network.modules():
            hook = module.register_forward_pre_hook(lambda *_: check())
            stack.callback(hook.remove)
        yield


def _heads(layer: ObservedLayer, tokens: Pieces) -> LayerHeads:
    item = layer.item()
    wanted = Wanted(entropy=True, received=True, cells=THUMBNAIL)
    seen = item.statistics(wanted)
    assert seen.entropy is not None
    assert seen.pooled_max is not None
    return LayerHeads(
        scored(Patterns(tokens, layer.kind == "cross").tally(item, seen)),
        seen.entropy.mean(-1).tolist(),
        seen.pooled_max.flatten(1).amax(-1).tolist(),
        as_array(seen.pooled_max),
    )


def _link(item: Item, row: int, column: int) -> list[float] | None:
    weights = _weights(item, row)
    if weights is None or column >= len(item.columns):
        return None
    found: list[float] = weights[:, column].tolist()
    return found


def _weights(item: Item, row: int) -> Tensor | None:
    """(heads, keys) of one query; None if there is no such query."""
    if row >= len(item.rows):
        return None
    if item.weights is not None:
        return item.weights[:, row]
    return softmax(item.rule.scores(item.query, item.key, (row, row + 1)))[:, 0]


def _empty(sheet: Sheet) -> None:
    """Leave the vectors out: the page asks for those of a head when it shows it."""
    sheet.query = sheet.key = np.zeros((1, 0, 0), np.float32)
    sheet.value = sheet.bias = sheet.allowed = sheet.lse = sheet.context = None
    sheet.checked = ()


def _one(array: Array | None, place: int) -> Array | None:
    """What holds for one head, with three axes."""
    if array is None:
        return None
    array = array.reshape((1,) * (3 - array.ndim) + array.shape)
    return array if len(array) == 1 else array[place : place + 1]
