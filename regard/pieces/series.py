"""A series as pieces: the spans of steps that a model reads, each with its place in time."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError, nearest
from regard.pieces.backdrop import Backdrop
from regard.pieces.clock import Clock
from regard.pieces.pieces import Pieces
from regard.text import quoted

Numbers = NDArray[np.float64]
MOST_LINES = 6
"""Of several channels, drawn one below the other."""


@dataclass(frozen=True)
class Series:
    """Numbers at equal distances in time, in one channel or several."""

    clock: Clock
    channels: list[str]
    values: Numbers
    """(steps, channels)"""

    def __len__(self) -> int:
        return len(self.values)

    def digest(self) -> str:
        """A fingerprint of times, channels and numbers."""
        found = hashlib.sha256("\n".join([*self.channels, *self.clock.texts]).encode())
        found.update(np.ascontiguousarray(self.values).data)
        return found.hexdigest()

    def channel(self, name: str | None) -> int:
        """The place of the channel ``name``; without a name, the first."""
        if name is None:
            return 0
        if name not in self.channels:
            raise DataError(
                f"there is no column {quoted(name)} among {', '.join(self.channels[:20])}"
                f"{nearest(name, self.channels)}"
            )
        return self.channels.index(name)


@dataclass(frozen=True)
class Spans:
    """What a model reads of one channel: windows of steps, one behind the other."""

    series: Series
    channel: int
    pieces: Pieces
    """Each named by its first time; its place is (first row, row behind the last)."""

    @property
    def rows(self) -> tuple[int, int]:
        """The rows that are read: from the first, up to the second."""
        placed = [place for place in self.pieces.places if place]
        return placed[0][0], placed[-1][1]


def spans(
    series: Series, channel: int, start: int, sizes: Sequence[int], special: Sequence[str] = ()
) -> Spans:
    """The rows from ``start`` on, cut into pieces of these sizes behind the ``special`` ones."""
    edges = np.concatenate([[start], start + np.cumsum(np.array(sizes, int))]).tolist()
    places = list(pairwise(edges))
    labels = [series.clock.name(first) for first, _ in places]
    pieces = Pieces.of_thing(special, labels, places, noun=_noun(places))
    return Spans(series, channel, pieces)


@dataclass(frozen=True)
class Window:
    """What a model reads of one channel of a series at once, in pieces that may overlap."""

    series: Series
    channel: int
    start: int
    """The row of the series at which it begins."""
    pieces: Pieces
    """Each named by its first time; its place is counted from the beginning of the window."""

    def at(self, time: str) -> int:
        """The first piece that has the time ``time`` in it."""
        row = self.series.clock.row(time)
        for i, place in enumerate(self.pieces.places):
            if place and place[0] <= row - self.start < place[1]:
                return i
        first, last = (min(p for p in self.pieces.places if p), max(self.pieces.places))
        name = self.series.clock.name
        raise DataError(
            f"the model does not read {quoted(time[:40])}: it reads from "
            f"{quoted(name(self.start + first[0]))} to {quoted(name(self.start + last[1] - 1))}"
        )


def steps(series: Series, start: int, stop: int) -> Pieces:
    """Each of these rows as a piece, drawn on the lines of the first channels."""
    lines = series.values[start:stop, :MOST_LINES].T.astype(np.float32)
    labels = [series.clock.name(row) for row in range(start, stop)]
    places = [(i, i + 1) for i in range(stop - start)]
    return Pieces.of_thing((), labels, places, Backdrop("curve", lines), "step")


def window(
    series: Series,
    channel: int,
    rows: tuple[int, int],
    places: Sequence[tuple[int, int]],
    special: Sequence[str] = (),
) -> Window:
    """The rows from the first up to the second; ``places`` are counted from the first."""
    start, stop = rows
    line = series.values[start:stop, channel].astype(np.float32)[np.newaxis]
    labels = [series.clock.name(start + first) for first, _ in places]
    behind = Backdrop("curve", line)
    pieces = Pieces.of_thing(special, labels, places, behind, _noun(places))
    return Window(series, channel, start, pieces)


def _noun(places: Sequence[tuple[int, int]]) -> str:
    return "step" if all(stop - start == 1 for start, stop in places) else "patch"


@dataclass(frozen=True)
class Forecast:
    """How a model says that a channel of a series goes on, and what it looked at. Plain data."""

    model: str
    """The design."""
    past: Spans
    """What was read."""
    said: Numbers
    """The forecast, a number for each step behind the past."""
    other: dict[str, Numbers]
    """What others say, by their names: the last value again, the last season again, …"""
    weights: NDArray[np.float32]
    """(layers, heads, future pieces, past pieces): what each part of the forecast gives to each
    part of the past; no layers for a design without attention."""
    patch: int
    """Steps of a future piece."""

    @property
    def times(self) -> list[str]:
        """Of the forecast steps."""
        stop = self.past.rows[1]
        return [self.past.series.clock.name(stop + i) for i in range(len(self.said))]

    @property
    def whole(self) -> Pieces:
        """What was read and, behind it, the pieces of the forecast, drawn on both."""
        start, stop = self.past.rows
        known = stop - start
        series, channel = self.past.series, self.past.channel
        line = np.concatenate([series.values[start:stop, channel], self.said]).astype(np.float32)
        firsts = range(0, len(line), self.patch)
        places = [(first, first + self.patch) for first in firsts]
        return Pieces.of_thing(
            (),
            [series.clock.name(start + first) for first in firsts],
            places,
            Backdrop("curve", line[np.newaxis], since=known),
            _noun(places),
        )

    @property
    def came(self) -> Numbers:
        """What the series has where the forecast is: as much of it as there is."""
        stop = self.past.rows[1]
        return self.past.series.values[stop : stop + len(self.said), self.past.channel]

    def looked(
        self, layer: int | None = None, head: int | None = None
    ) -> NDArray[np.float32] | None:
        """(future pieces, past pieces): what each part of the forecast gives to each part of the
        past, in the last layer and on average over its heads unless one is named; None without
        attention."""
        layers, heads = self.weights.shape[:2]
        for what, asked, count in (("layer", layer, layers), ("head", head, heads)):
            if asked is not None and not 0 <= asked < count:
                has = f"from 0 to {count - 1}" if count else f"none: {self.model} has no attention"
                raise DataError(f"{what} must be {has}, got {asked}")
        if not layers:
            return None
        chosen = self.weights[-1 if layer is None else layer]
        found: NDArray[np.float32] = chosen.mean(0) if head is None else chosen[head]
        return found
