"""What goes on in time on a terminal, a curve or a sound, and under it what a piece attends to."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from regard.pieces.pieces import Pieces
from regard.text import number_of, visible
from regard.views.terminal.numbers import colour
from regard.views.terminal.series import BLOCKS, MARGIN, curve
from regard.views.terminal.sound import spectrogram_lines

STRONGEST = 5


def print_spans(
    pieces: Pieces,
    weights: NDArray[np.float32],
    chosen: int | None,
    title: str,
    console: Console,
    until: int | None = None,
) -> None:
    """The thing up to the step ``until``, under it the ``chosen`` piece, if it is one of them, and
    the weights."""
    assert pieces.backdrop is not None
    values = pieces.backdrop.values[:, :until]
    room = max(20, min(console.width - MARGIN - 2, 4 * values.shape[1]))
    console.print()
    console.print(Text(visible(title), style="bold"))
    if pieces.backdrop.kind == "curve":
        drawn = curve(values[0].astype(np.float64), room)
    elif console.is_terminal:
        span = float(values.max() - values.min()) or 1.0
        lines = spectrogram_lines((values - values.min()) / span, room)
        drawn = [Text(" " * MARGIN).append(line) for line in lines]
    else:
        drawn = []  # a spectrogram is nothing without its colours
    for line in drawn:
        console.print(line, no_wrap=True, overflow="crop")
    steps = values.shape[1]
    here = [float(i == chosen) for i in range(len(pieces))]
    marks = ["▲" if share else " " for share in in_columns(pieces, here, steps, room)]
    if "▲" in marks:
        console.print(Text(f"{'from':>{MARGIN - 1}} {''.join(marks)}".rstrip()), no_wrap=True)
    most = float(weights.max()) or 1.0
    line = Text(f"{'to':>{MARGIN - 1}} ")
    for share in in_columns(pieces, (weights / most).tolist(), steps, room):
        line.append(BLOCKS[round(8 * share)], style="rgb({},{},{})".format(*colour(share)))
    console.print(line, no_wrap=True, overflow="crop")
    _print_strongest(pieces, weights, console)
    _print_behind(pieces, weights, console)


def in_columns(pieces: Pieces, shares: list[float], steps: int, columns: int) -> list[float]:
    """What pieces have, for columns of ``steps`` steps: the most of those that reach into each."""
    by_step = np.zeros(steps)
    for place, share in zip(pieces.places, shares, strict=True):
        if place:
            reached = slice(place[0], place[1])
            by_step[reached] = np.maximum(by_step[reached], share)
    edges = np.arange(columns + 1) * steps / columns
    return [
        float(by_step[int(a) : max(int(a) + 1, int(np.ceil(b)))].max()) for a, b in pairwise(edges)
    ]


def _print_strongest(pieces: Pieces, weights: NDArray[np.float32], console: Console) -> None:
    width = max(len(visible(label)) for label in pieces.labels)
    for i in np.argsort(-weights, kind="stable")[:STRONGEST].tolist():
        console.print(Text(f"  {visible(pieces.labels[i]):<{width}} {weights[i]:.4f}"))


def _print_behind(pieces: Pieces, weights: NDArray[np.float32], console: Console) -> None:
    """What goes to padding, which is not drawn."""
    behind = pieces.padding
    share = float(weights[np.array(behind)].sum())
    if share > 0:  # --no-sink leaves it out
        there = number_of(sum(behind), "piece")
        said = f"{share:.1%} of the weight goes to the {there} behind the sound's end"
        console.print(Text(f"{said}, which the model reads as silence", style="yellow"))
