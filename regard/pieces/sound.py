"""A sound as pieces: the spans of time that a model reads, each with its frames."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.pieces.backdrop import Backdrop
from regard.pieces.pieces import Pieces

MOST_DECIMALS = 5
PADDING = " (pad)"
"""Behind the name of a span that is not of the sound."""
TOLERANCE = 1e-6
"""Of a frame: ends are computed from seconds."""


def spans(
    loudness: NDArray[Any],
    frames: float,
    step: float,
    count: int | None = None,
    until: float | None = None,
) -> Pieces:
    """A spectrogram (bands, all frames) cut into ``count`` spans of ``frames`` frames, ``step``
    seconds each; a span is named by its seconds: "0.05–0.10 s". Without ``count`` as many as
    there are.

    ``until`` is the frame at which the sound ends, if a model reads on: spans that begin there or
    later are padding. They keep their places, are special, and their names say what they are.
    """
    count = -int(-loudness.shape[1] // frames) if count is None else count
    edges = [i * frames for i in range(count + 1)]
    length, digits = frames * step, 2
    while digits < MOST_DECIMALS and abs(round(length, digits) - length) > 1e-9:
        digits += 1
    behind_end = [until is not None and edge >= until - TOLERANCE for edge in edges[:-1]]
    labels = [
        f"{a * step:.{digits}f}–{b * step:.{digits}f} s{PADDING if gone else ''}"
        for (a, b), gone in zip(pairwise(edges), behind_end, strict=True)
    ]
    places = [(int(edges[i]), max(int(edges[i]) + 1, round(edges[i + 1]))) for i in range(count)]
    behind = Backdrop("spectrogram", loudness.astype(np.float32))
    noun = "frame" if frames == 1 else "span"
    return replace(Pieces.of_thing((), labels, places, behind, noun), special=behind_end)
