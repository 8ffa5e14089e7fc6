"""Slide: lines or a map in the size of a slide, with letters that the last row can read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from regard.trace import Array
from regard.views.picture.file import save_figure
from regard.views.picture.plot import plot_weights

SIZE = (12.8, 7.2)
"""Inches: sixteen to nine."""
LETTERS = 18
MARKS = "os^Dv*Px"


def save_slide(
    path: str | os.PathLike[str],
    file: str,
    kind: str,
    values: Array,
    *,
    rows: Sequence[str],
    columns: Sequence[str],
    along: str = "",
    title: str = "",
) -> None:
    """Write ``values`` (rows, columns) as ``svg`` or ``png``, atomically.

    ``kind`` is ``lines``, a line for each row, or ``map``, a cell for each number.
    """

    def draw() -> Any:
        from matplotlib.figure import Figure

        figure = Figure(figsize=SIZE, layout="constrained")
        axes = figure.add_subplot()
        if kind == "map":
            plot_weights(values, axes, queries=list(rows), keys=list(columns), title=title)
            axes.tick_params(labelsize=LETTERS - 4 if max(values.shape) <= 20 else 8)
            axes.set_xlabel("")
            axes.set_ylabel("")
        else:
            _lines(axes, values, rows, columns)
            axes.set_xlabel(along)
            axes.set_title(title, parse_math=False)
        return figure

    save_figure(draw, path, file, LETTERS)


def _lines(axes: Any, values: Array, rows: Sequence[str], columns: Sequence[str]) -> None:
    for place, (name, row) in enumerate(zip(rows, values, strict=True)):
        axes.plot(range(len(row)), row, marker=MARKS[place % len(MARKS)], lw=3, ms=10, label=name)
    axes.set_xticks(range(len(columns)), columns)
    axes.set_ylim(bottom=0)
    axes.grid(alpha=0.3)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)
    axes.legend(frameon=False)
