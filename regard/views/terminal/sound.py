"""A sound on a terminal: its spectrogram, two bands a sign, and under it what each span weighs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.text import Text

from regard.pieces.pieces import Pieces
from regard.views.terminal.image import half_blocks
from regard.views.terminal.numbers import colour

TALL = 16
"""Pixels of the spectrogram from top to bottom."""


def print_sound(sound: Pieces, weights: NDArray[np.float32], title: str, console: Console) -> None:
    """The spectrogram, a line with the weight of each span, and the strongest spans."""
    assert sound.backdrop is not None
    console.print()
    console.print(Text(title, style="bold"))
    if console.is_terminal:
        loudness = sound.backdrop.values / 255
        width = min(console.width - 1, loudness.shape[1])
        for line in spectrogram_lines(loudness, width):
            console.print(line, no_wrap=True, overflow="crop")
        columns = ((np.arange(width) + 0.5) * loudness.shape[1] / width).astype(int)
        spread = np.concatenate(
            [
                np.full(place[1] - place[0], weight)
                for place, weight in zip(sound.places, weights.tolist(), strict=True)
            ]
        )
        shares = spread[columns] / (float(weights.max()) or 1.0)
        for line in half_blocks(_colours(np.stack([shares, shares]))):
            console.print(line, no_wrap=True, overflow="crop")
    console.print(Text("share of what it decided from, the largest first", style="dim"))
    strongest = np.argsort(-weights, kind="stable")[:5].tolist()
    wide = max(12, *(len(sound.labels[i]) for i in strongest))
    for i in strongest:
        bar = "█" * round(40 * float(weights[i]))
        console.print(Text(f"{sound.labels[i]:<{wide}} {100 * weights[i]:5.1f} %  {bar}".rstrip()))


def spectrogram_lines(loudness: NDArray[np.floating], width: int) -> list[Text]:
    """A spectrogram of shares of the loudest, ``width`` signs wide, the highest band above."""
    columns = ((np.arange(width) + 0.5) * loudness.shape[1] / width).astype(int)
    rows = ((np.arange(TALL) + 0.5) * len(loudness) / TALL).astype(int)
    return half_blocks(_colours(loudness[::-1][rows][:, columns]))


def _colours(shares: NDArray[np.floating]) -> NDArray[np.uint8]:
    return np.array([[colour(float(share)) for share in row] for row in shares], np.uint8)
