"""Alignment as a picture: where each word of a translation or a summary came from."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from regard.errors import RegardError
from regard.text import cut, visible
from regard.trace import Array
from regard.views.picture.file import save_figure

MOST = 120
"""Words of a side that can be read in a picture."""
CELL = 0.24
"""Inches of a word."""


def save_alignment(
    source: Sequence[str],
    target: Sequence[str],
    weights: Array,
    copies: Array | None,
    path: str | os.PathLike[str],
    kind: str,
) -> None:
    """Draw and write; ``kind`` is ``png`` or ``svg``. ``weights`` and, of a model with a pointer,
    ``copies`` are (target, source)."""
    if not target or not weights.any():
        raise RegardError("there is nothing to draw: no word that looked at another one")
    if max(len(source), len(target)) > MOST:
        raise RegardError(
            f"a picture of an alignment has up to {MOST} words a side, got {len(source)} and "
            f"{len(target)}: --html shows longer texts"
        )
    save_figure(lambda: draw_alignment(source, target, weights, copies), path, kind, 9)


def draw_alignment(
    source: Sequence[str], target: Sequence[str], weights: Array, copies: Array | None
) -> Any:
    """A row for each target word, a column for each source word, the darker the more weight; what
    was copied as a ring in its cell, and beside each row how much of the word that is."""
    from matplotlib.figure import Figure

    rows, columns = len(target), len(source)
    beside = 0.0 if copies is None else 1.6
    size = CELL * columns + 1.5 + beside, CELL * rows + 1.6
    figure = Figure(figsize=size, layout="constrained")
    wide = (columns * CELL, beside) if copies is not None else (1,)
    axes = figure.subplots(1, len(wide), width_ratios=wide, sharey=True, squeeze=False)[0]
    axes[0].imshow(weights, vmin=0, vmax=1, cmap="Greys", aspect="auto")
    names = [[cut(visible(word), 18).replace("$", r"\$") for word in s] for s in (source, target)]
    axes[0].set_xticks(range(columns), names[0], rotation=90)
    axes[0].set_yticks(range(rows), names[1])
    axes[0].tick_params(length=0)
    axes[0].xaxis.tick_top()
    axes[0].set_xlabel("looked at: the darker the more" + ("" if copies is None else "; ○ copied"))
    if copies is not None:
        places = [(j, i) for i in range(rows) for j in range(columns) if copies[i, j] >= 0.05]
        for j, i in places:
            axes[0].scatter(j, i, s=110 * copies[i, j], edgecolors="tab:red", facecolors="none")
        axes[1].barh(range(rows), copies.sum(-1), color="tab:red", height=0.6)
        axes[1].set(xlim=(0, 1), xticks=(0, 1), xlabel="copied")
        axes[1].tick_params(left=False)
        axes[1].xaxis.tick_top()
        axes[1].spines[["right", "bottom", "left"]].set_visible(False)
    return figure
