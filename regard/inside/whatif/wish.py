"""Wish: what a reader of the page would have changed in a model, done by the hands of intervene.

The twin of the page's own (views/page/script/network/wish.js), which changes a model that runs in
the browser.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from regard.errors import RegardError
from regard.inside.intervene.hands import Hands
from regard.inside.observe.layer import ObservedLayer

FORM = (
    '{"masked": [key, …], "cut": [[query, key, layer, head or null], …], "removed": '
    '[[layer, head], …], "factor": number, "temperature": number}'
)
MOST = 100.0
"""The largest factor and temperature."""


@dataclass(frozen=True)
class LinkCut:
    """One link: in one head, or (None) in every head of the layer's kind of attention."""

    query: int
    key: int
    layer: int
    head: int | None


@dataclass(frozen=True)
class Wish:
    """Layers are counted in the order in which they ran, tokens and heads from 0."""

    masked: tuple[int, ...] = ()
    """Tokens of what is read that nobody may look at."""
    cut: tuple[LinkCut, ...] = ()
    removed: tuple[tuple[int, int], ...] = ()
    """(layer, head)"""
    factor: float = 1.0
    """On all scores q·k."""
    temperature: float = 1.0
    """Of the softmax over words or labels in the end."""

    @staticmethod
    def from_dict(content: Any) -> Wish:
        """From JSON; whatever is not of its form is refused."""
        if not isinstance(content, dict):
            raise RegardError(f"a what-if is {FORM}")
        given = dict(content)
        try:
            wish = Wish(
                tuple(_place(j) for j in given.pop("masked", ())),
                tuple(_cut(*one) for one in given.pop("cut", ())),
                tuple((_place(k), _place(h)) for k, h in given.pop("removed", ())),
                _within(given.pop("factor", 1), 0),
                _within(given.pop("temperature", 1), 0.01),
            )
        except (TypeError, ValueError) as error:
            raise RegardError(f"a what-if is {FORM}") from error
        if given:
            raise RegardError(f"a what-if is {FORM}; got also {', '.join(sorted(map(str, given)))}")
        return wish

    @property
    def reaches_in(self) -> bool:
        """Whether something inside the model is to be changed."""
        return bool(self.masked or self.cut or self.removed or self.factor != 1)

    def apply(self, hands: Hands, layers: Sequence[ObservedLayer], both: bool) -> None:
        """Ask ``hands`` for it; ``layers`` as the unchanged model ran, of encoder and decoder if
        there are ``both``."""
        kinds = ("encoder", "cross") if both else ("self",)
        for kind in kinds if self.masked else ():
            hands.mask(key=self.masked, kind=kind)
        for link in self.cut:
            layer = _layer(layers, link.layer)
            number = None if link.head is None else layer.number
            hands.mask(number, link.head, link.query, link.key, kind=_kind(layer, both))
        for number, head in self.removed:
            layer = _layer(layers, number)
            hands.remove(layer.number, head, kind=_kind(layer, both))
        if self.factor != 1:
            for kind in dict.fromkeys(_kind(layer, both) for layer in layers):
                hands.sharpen(by=self.factor, kind=kind)


def _cut(query: Any, key: Any, layer: Any, head: Any = None) -> LinkCut:
    return LinkCut(
        _place(query), _place(key), _place(layer), None if head is None else _place(head)
    )


def _place(given: Any) -> int:
    if isinstance(given, bool) or not isinstance(given, int) or given < 0:
        raise ValueError
    return given


def _within(given: Any, least: float) -> float:
    if isinstance(given, bool) or not math.isfinite(given) or not least <= given <= MOST:
        raise ValueError
    return float(given)


def _layer(layers: Sequence[ObservedLayer], number: int) -> ObservedLayer:
    if number >= len(layers):
        raise RegardError(f"layers are counted from 0: there are {len(layers)}, got {number}")
    return layers[number]


def _kind(layer: ObservedLayer, both: bool) -> str:
    """As hands call it."""
    if not both:
        return layer.kind
    return "cross" if layer.kind == "cross" else layer.part
