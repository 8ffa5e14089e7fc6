"""A sound as pieces: the spans of time that a model reads, each with its frames."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.pieces.backdrop import Backdrop
from regard.pieces.pieces import Pieces

MOST_DECIMALS = 5


def spans(loudness: NDArray[Any], frames: float, step: float, count: int | None = None) -> Pieces:
    """A spectrogram (bands, all frames) cut into ``count`` spans of ``frames`` frames, ``step``
    seconds each; a span is named by its seconds: "0.05–0.10 s". Without ``count`` as many as
    there are."""
    count = -int(-loudness.shape[1] // frames) if count is None else count
    edges = [i * frames for i in range(count + 1)]
    length, digits = frames * step, 2
    while digits < MOST_DECIMALS and abs(round(length, digits) - length) > 1e-9:
        digits += 1
    labels = [
        f"{edges[i] * step:.{digits}f}–{edges[i + 1] * step:.{digits}f} s" for i in range(count)
    ]
    places = [(int(edges[i]), max(int(edges[i]) + 1, round(edges[i + 1]))) for i in range(count)]
    behind = Backdrop("spectrogram", loudness.astype(np.float32))
    return Pieces.of_thing((), labels, places, behind)
