"""Chart: a log-log line chart in text, braille dots for the lines and a letter at each point.

On log-log axes a power law is a straight line, and its exponent is the slope.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich.text import Text

DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""The bit of each dot of a braille character: 4 rows of 2."""
COLOURS = ("#D55E00", "#0072B2", "#009E73", "#CC79A7")
"""Four of Okabe and Ito's: told apart with every kind of colour vision, on black and on white."""
MARGIN = 8
"""Columns left of the axis, for its labels."""


@dataclass(frozen=True)
class ChartLine:
    """One series: its letter, its colour (any that rich knows) and a value for each x."""

    letter: str
    colour: str
    values: Sequence[float]


class DotGrid:
    """Cells of a character each, every one with 2 × 4 dots; y grows upwards from 0."""

    def __init__(self, columns: int, rows: int) -> None:
        self.columns, self.rows = columns, rows
        self.dots: dict[tuple[int, int], int] = {}
        self.letters: dict[tuple[int, int], str] = {}
        self.colours: dict[tuple[int, int], str] = {}

    def dot(self, x: float, y: float, colour: str) -> None:
        """Set the dot at ``x`` and ``y`` (both 0 to 1)."""
        across, up = round(x * (2 * self.columns - 1)), round(y * (4 * self.rows - 1))
        cell, down = (across // 2, up // 4), 3 - up % 4
        self.dots[cell] = self.dots.get(cell, 0) | DOTS[down][across % 2]
        self.colours[cell] = colour

    def letter(self, x: float, y: float, letter: str, colour: str) -> None:
        """Write a letter; where another one stands already, in the nearest free cell beside it."""
        column = round(x * (2 * self.columns - 1)) // 2
        row = round(y * (4 * self.rows - 1)) // 4
        free = [c for c in range(self.columns) if (c, row) not in self.letters]
        cell = min(free, key=lambda c: abs(c - column), default=column), row
        self.letters[cell], self.colours[cell] = letter, colour

    def line(self, row: int) -> Text:
        """One row of cells, coloured."""
        text = Text()
        for column in range(self.columns):
            cell = column, row
            dots = chr(0x2800 + self.dots[cell]) if cell in self.dots else " "
            text.append(self.letters.get(cell, dots), self.colours.get(cell, ""))
        return text


def loglog(
    xs: Sequence[int],
    lines: Sequence[ChartLine],
    label: Callable[[float], str],
    *,
    columns: int,
    rows: int,
) -> list[Text]:
    """The chart, ``MARGIN + 1 + columns`` wide: ``rows`` lines, an axis and its labels.

    ``label`` writes a value of y; the powers of ten are labelled.
    """
    low, high = _bounds([value for line in lines for value in line.values])
    across = [_place(x, xs[0], xs[-1]) for x in xs]
    grid = DotGrid(columns, rows)
    for line in lines:
        up = [_place(value, low, high) for value in line.values]
        _join(grid, across, up, line.colour)
    for line in lines:  # after every line, so that no letter is hidden by dots
        for x, value in zip(across, line.values, strict=True):
            grid.letter(x, _place(value, low, high), line.letter, line.colour)
    ticks = _ticks(low, high, rows, label)
    body = [
        Text(f"{ticks.get(row, ''):>{MARGIN - 1}} {'┤' if row in ticks else '│'}") + grid.line(row)
        for row in reversed(range(rows))
    ]
    corner = " " * MARGIN + "└"
    return [*body, Text(corner + "─" * columns), Text(" " * (MARGIN + 1) + _labels(xs, columns))]


def _bounds(values: Sequence[float]) -> tuple[float, float]:
    """The least and the greatest, apart by a tenth at least so that a flat line has a place."""
    low, high = min(values), max(values)
    return (low, high) if high > 1.1 * low else (low / 1.1, high * 1.1)


def _place(value: float, low: float, high: float) -> float:
    """Where ``value`` lies between ``low`` (0) and ``high`` (1), by logarithm."""
    return math.log(value / low) / math.log(high / low)


def _join(grid: DotGrid, xs: Sequence[float], ys: Sequence[float], colour: str) -> None:
    """Dots along the straight lines between neighbouring points."""
    for i in range(len(xs) - 1):
        wide, tall = (xs[i + 1] - xs[i]) * 2 * grid.columns, (ys[i + 1] - ys[i]) * 4 * grid.rows
        steps = max(1, math.ceil(max(abs(wide), abs(tall))))
        for step in range(steps + 1):
            t = step / steps
            x, y = xs[i] + t * (xs[i + 1] - xs[i]), ys[i] + t * (ys[i + 1] - ys[i])
            grid.dot(x, y, colour)


def _ticks(low: float, high: float, rows: int, label: Callable[[float], str]) -> dict[int, str]:
    """Row -> label, for the powers of ten; for the ends where there are none."""
    powers = range(math.ceil(math.log10(low) - 1e-9), math.floor(math.log10(high) + 1e-9) + 1)
    values = [10.0**p for p in powers] or [low, high]
    return {min(rows - 1, round(_place(v, low, high) * (rows - 1))): label(v) for v in values}


def _labels(xs: Sequence[int], columns: int) -> str:
    """The x values under their places, from the right; those that find no room are left out."""
    row = [" "] * columns
    for x in reversed(xs):
        text = str(x)
        middle = round(_place(x, xs[0], xs[-1]) * (columns - 1))
        start = min(max(0, middle - len(text) // 2), columns - len(text))
        room = row[max(0, start - 1) : start + len(text) + 1]
        if start >= 0 and not "".join(room).strip():
            row[start : start + len(text)] = text
    return "".join(row).rstrip()
