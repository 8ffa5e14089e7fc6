"""Look: what was asked about a text and found in all heads of a model. Plain data.

inside/look finds it; the terminal, pictures, the page and files show it.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.pieces.heads import HeadPlace, Heads, Scored
from regard.pieces.pieces import Pieces
from regard.pieces.sheet import Subject

Floats = NDArray[np.float32]


class HeadWeights(Protocol):
    """The weights of one head, computed where one looks: ``regard.attention.AttentionMap``."""

    shape: tuple[int, int]

    def row_blocks(self) -> list[tuple[int, int]]: ...

    def block(self, rows: tuple[int, int], columns: tuple[int, int]) -> Any: ...

    def dense(self) -> Any: ...

    def pooled(self, cells: int) -> Any: ...


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
    page: bool = False
    """Keep queries, keys and values of all layers: what a page shows."""
    measure: str = ""
    """What is derived from the weights and shown in their place (pieces/measures.py)."""
    more: tuple[str, ...] = ()
    """Measures that a page shows besides."""
    goal: str | None = None
    """Of a gradient: the word, label or text of which it is; None: what the model predicts."""

    @property
    def measures(self) -> tuple[str, ...]:
        """All that were asked for."""
        return ((self.measure,) if self.measure else ()) + self.more

    @property
    def layers(self) -> list[int] | None:
        """The layers that are looked at, all if None."""
        return None if self.layer is None else [self.layer]


@dataclass(frozen=True)
class WordPlace:
    """A word that was asked for, and what every head does with it."""

    text: str
    start: int
    """Its tokens are those from here …"""
    stop: int
    """… up to here."""
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
    request: LookRequest
    queries: Pieces
    keys: Pieces
    layers: int = 0
    done: int = 0
    heads: dict[HeadPlace, Scored] = field(default_factory=dict)
    sink: dict[int, float] = field(default_factory=dict)
    """By layer: the share of all its weight that the first token and special ones get."""
    links: dict[HeadPlace, list[tuple[int, int, float]]] = field(default_factory=dict)
    """By layer and head: query, key and weight of the strongest links between two different tokens
    (or words) of the text itself: none to the first token, none from or to special
    and unknown ones."""
    place: WordPlace | None = None
    weights: dict[HeadPlace, float] = field(default_factory=dict)
    """By layer and head: the weight of the link that was asked for."""
    pooled: dict[HeadPlace, Floats] = field(default_factory=dict)
    map: HeadWeights | None = None
    """Of the head that was asked for."""
    scored: str = ""
    """Of a gradient: the number y of which it is."""
    page: Subject | None = None
    """What a page shows of the same pass, if it was asked for and nothing stopped it."""

    @property
    def names(self) -> tuple[list[str], list[str]]:
        """Texts of queries and keys: of tokens, or of words."""
        if self.request.words:
            return [w.text for w in self.queries.words], [w.text for w in self.keys.words]
        return self.queries.labels, self.keys.labels

    @property
    def left_out(self) -> tuple[set[int], set[int]]:
        """Queries and keys that ``no_sink`` does not show."""
        if not self.request.no_sink:
            return set(), set()
        sides = (self.queries, self.keys)
        both = [side.by_word(side.sinks) if self.request.words else side.sinks for side in sides]
        rows, columns = ({i for i, sink in enumerate(sinks) if sink} for sinks in both)
        return rows, columns

    def ranking(self) -> Heads:
        """The same heads, to be ranked."""
        return Heads(self.model, self.queries.labels, self.heads, dict(self.weights))
