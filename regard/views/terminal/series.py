"""A forecast on a terminal: the curve, and below it what the forecast looked at."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from regard.pieces.series import Forecast, Numbers
from regard.text import cut, visible
from regard.views.terminal.numbers import colour

ROWS = 10
"""Lines of the curve,"""
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
"""each of 4 × 2 dots a sign."""
BLANK = 0x2800
BLOCKS = " ▁▂▃▄▅▆▇█"
PARTS = 6
"""Parts of a forecast that have a line of their own."""
MARGIN = 9
"""Columns before the curve: the numbers of its axis."""
STRONGEST = 3


def print_forecast(
    forecast: Forecast, weights: NDArray[np.float32] | None, title: str, console: Console
) -> None:
    """The past and the forecast as a curve; ``weights`` (parts, past pieces) as lines below it."""
    room = max(20, console.width - MARGIN - 2)
    past = _past(forecast)
    steps = len(past) + len(forecast.said)
    border = round(room * len(past) / steps)
    console.print(Text(visible(title), style="bold"), no_wrap=True, overflow="crop")
    came = forecast.came if console.is_terminal else forecast.came[:0]  # told apart by colour
    for line in _curve(forecast.said, past, came, room, border):
        console.print(line, no_wrap=True, overflow="crop")
    console.print(_axis(forecast, border, room), style="dim", no_wrap=True, overflow="crop")
    if len(came):
        console.print(Text("green: the forecast; grey: what came", style="dim"))
    _print_errors(forecast, console)
    if weights is None:
        console.print(Text(f"{forecast.model} has no attention: there are no weights to show"))
        return
    console.print(Text("what each part of the forecast looked at:", style="dim"))
    most = float(weights.max()) or 1.0
    for part in np.unique(np.linspace(0, len(weights) - 1, PARTS).round().astype(int)).tolist():
        console.print(_part(forecast, weights[part], part, most, border), no_wrap=True)
    _print_strongest(forecast, weights.mean(0), console)


def _past(forecast: Forecast) -> Numbers:
    first, stop = forecast.past.rows
    past: Numbers = forecast.past.series.values[first:stop, forecast.past.channel]
    return past


def _curve(said: Numbers, past: Numbers, came: Numbers, room: int, border: int) -> list[Text]:
    """Lines of dots: the past, what is ``said`` of the future, and in grey what ``came``."""
    shown = np.concatenate([past, said, came])
    low, high = float(shown.min()), float(shown.max())
    parts = [(past, border, "", 0), (said, room - border, "bold green", border)]
    if len(came):
        wide = round((room - border) * len(came) / len(said))
        parts.insert(0, (came, wide, "bright_black", border))
    return _drawn(parts, low, high, room, border)


def curve(values: Numbers, room: int) -> list[Text]:
    """One line of dots, ``room`` signs wide, behind the numbers of its axis."""
    return _drawn([(values, room, "", 0)], float(values.min()), float(values.max()), room, room)


def _drawn(
    parts: list[tuple[Numbers, int, str, int]], low: float, high: float, room: int, border: int
) -> list[Text]:
    """Parts of a curve, each with its width, its style and where it begins, from ``low`` below to
    ``high`` above."""
    high = high if high > low else low + 1
    layers = [(_dots(part, wide, low, high), style, start) for part, wide, style, start in parts]
    lines = []
    for row in range(ROWS):
        number = high - (high - low) * row / (ROWS - 1) if row in (0, ROWS - 1) else None
        line = Text(" " * MARGIN if number is None else f"{_number(number):>{MARGIN - 1}} ")
        signs, styles = [" "] * room, [""] * room
        for dots, style, start in layers:
            for column in range(dots.shape[1]):
                if dots[row, column]:
                    signs[start + column] = chr(BLANK + int(dots[row, column]))
                    styles[start + column] = style
        for column, (sign, style) in enumerate(zip(signs, styles, strict=True)):
            line.append("┊" if column == border and sign == " " else sign, style=style)
        lines.append(line)
    return lines


def _dots(values: Numbers, wide: int, low: float, high: float) -> NDArray[np.int64]:
    """(rows, columns) of braille dots: neighbours are joined by a line."""
    grid = np.zeros((ROWS, max(wide, 1)), np.int64)
    across = max(wide, 1) * 2
    places = np.interp(np.linspace(0, len(values) - 1, across), np.arange(len(values)), values)
    heights = ((high - places) / (high - low) * (4 * ROWS - 1)).round().astype(int)
    for x, y in enumerate(heights.tolist()):
        before = heights[max(x - 1, 0)]
        for dot in range(min(before, y), max(before, y) + 1):
            grid[dot // 4, x // 2] |= DOTS[dot % 4][x % 2]
    return grid


def _axis(forecast: Forecast, border: int, room: int) -> Text:
    """The first time under the beginning, that of the forecast under the border, and the last if
    there is room for it."""
    first, times = visible(forecast.past.pieces.labels[0]), forecast.times
    ends = [visible(times[0]), f"{visible(times[0])} … {visible(times[-1])}"]
    end = ends[len(times) > 1 and len(ends[1]) <= room - border]
    return Text(f"{'':<{MARGIN}}{cut(first, border - 1):<{border}}{end}")


def _print_errors(forecast: Forecast, console: Console) -> None:
    """How far this one forecast and those of the baselines are off, where it is known."""
    came = forecast.came
    if not len(came):
        return
    ways = {forecast.model: forecast.said, **forecast.other}
    off = [f"{name} {np.abs(said[: len(came)] - came).mean():.4g}" for name, said in ways.items()]
    console.print(Text(f"off here, on average: {', '.join(off)}"))


def _part(
    forecast: Forecast, row: NDArray[np.float32], part: int, most: float, border: int
) -> Text:
    """A part's weights, each as a block over its piece of the past."""
    steps = forecast.patch
    line = Text(f"{f'+{part * steps + 1}':>{MARGIN - 1}} ")
    at = np.minimum(np.arange(border) * len(row) // border, len(row) - 1)
    for piece in at.tolist():
        share = float(row[piece]) / most
        r, g, b = colour(share)
        line.append(BLOCKS[round(8 * share)], style=f"rgb({r},{g},{b})")
    return line.append(f" {float(row.sum()):.0%}", style="dim")


def _print_strongest(forecast: Forecast, mean: NDArray[np.float32], console: Console) -> None:
    """The pieces of the past with the most weight, on average over the forecast."""
    pieces, clock = forecast.past.pieces, forecast.past.series.clock
    console.print(Text("most, on average over the forecast:", style="dim"))
    for i in np.argsort(-mean, kind="stable")[:STRONGEST].tolist():
        first, stop = pieces.places[i]
        until = f" to {clock.name(stop - 1)}" if stop > first + 1 else ""
        console.print(Text(f"  {mean[i]:.4f}  {visible(clock.name(first) + until)}"), no_wrap=True)


def _number(value: float) -> str:
    return f"{value:.{MARGIN - 5}g}"
