"""A recommendation on the terminal: what is recommended, and the items that it looked at."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from regard.text import cut, number_of, visible
from regard.trace import Array
from regard.views.terminal.numbers import bar

BARS = 20
TITLE = 40
"""Columns of an item at most."""


def print_recommended(
    items: Sequence[str], probabilities: Sequence[float], console: Console
) -> None:
    """A line an item, the likeliest first."""
    for place, (item, share) in enumerate(zip(items, probabilities, strict=True), 1):
        console.print(Text(f"{place:4d}  {100 * share:5.1f} %  {visible(item)}"), soft_wrap=True)


def print_looked_at(
    labels: Sequence[str],
    rows: Sequence[int],
    times: Sequence[str],
    weights: Array,
    console: Console,
    shown: int,
) -> None:
    """The items with the most weight: hundredths, row of the history from 1, time, item."""
    most = float(weights.max()) or 1.0
    wide = max(cell_len(visible(time)) for time in times)
    strongest = np.argsort(-weights, kind="stable")[:shown].tolist()
    names = {i: cut(visible(labels[i]), TITLE) for i in strongest}
    longest = max(cell_len(name) for name in names.values())
    bars = max(4, min(BARS, console.width - 19 - wide - longest))
    for i, name in names.items():
        room = " " * (longest - cell_len(name))
        line = f"{100 * weights[i]:6.1f}  {rows[i] + 1:5d}  {visible(times[i]):<{wide}}  {name}"
        console.print(
            Text(f"{line}{room}  {bar(float(weights[i]) / most, bars)}".rstrip()),
            no_wrap=True,
            overflow="crop",
        )
    rest = len(weights) - shown
    if rest > 0:
        left = float(np.sort(weights)[:rest].sum())
        console.print(
            Text(f"{100 * left:6.1f}  on {number_of(rest, 'other item')} (--json)", style="dim")
        )
