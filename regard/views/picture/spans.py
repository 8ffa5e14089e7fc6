"""A curve or a sound, and what one of its pieces attends to, as PNG or SVG."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.pieces.pieces import Pieces
from regard.text import visible
from regard.views.picture.file import save_figure

TICKS = 6


def save_spans(
    pieces: Pieces,
    weights: NDArray[np.float32],
    chosen: int | None,
    title: str,
    path: str | os.PathLike[str],
    kind: str,
    until: int | None = None,
) -> None:
    """Draw and write; ``kind`` is ``png`` or ``svg``."""
    save_figure(lambda: draw_spans(pieces, weights, chosen, title, until), path, kind, 9)


def draw_spans(
    pieces: Pieces,
    weights: NDArray[np.float32],
    chosen: int | None,
    title: str,
    until: int | None = None,
) -> Any:
    """The thing up to the step ``until`` with the chosen piece marked, and under it a bar for each
    piece, as wide as the piece and as high as its weight."""
    from matplotlib.figure import Figure

    assert pieces.backdrop is not None
    values = pieces.backdrop.values[:, :until]
    steps = values.shape[1]
    figure = Figure(figsize=(9, 4.5), layout="constrained")
    above, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    if pieces.backdrop.kind == "curve":
        above.plot(np.arange(steps) + 0.5, values[0], color="0.2", linewidth=1)
    else:
        extent = (0, steps, 0, len(values))
        above.imshow(values, origin="lower", extent=extent, aspect="auto", cmap="magma")
        above.set_yticks([])
    place = () if chosen is None else pieces.places[chosen]
    if place:
        for axes in (above, below):
            axes.axvspan(place[0], place[1], color="tab:red", alpha=0.25, linewidth=0)
    placed = [(i, p) for i, p in enumerate(pieces.places) if p and p[0] < steps]
    left = np.array([p[0] for _, p in placed])
    wide = np.array([p[1] - p[0] for _, p in placed])
    below.bar(left, weights[[i for i, _ in placed]], wide, align="edge", alpha=0.7)
    below.set(xlim=(0, steps), ylabel="weight")
    chosen_ticks = np.unique(np.linspace(0, len(placed) - 1, TICKS).round().astype(int)).tolist()
    names = [visible(pieces.labels[placed[k][0]]).replace("$", r"\$") for k in chosen_ticks]
    below.set_xticks([float(left[k]) for k in chosen_ticks], names, fontsize=7)
    padding = np.array(pieces.padding)
    if padding.any():
        share = float(weights[padding].sum())
        below.set_xlabel(f"and {share:.1%} to padding behind the end, which is not drawn")
    above.set_title(visible(title).replace("$", r"\$"))
    return figure
