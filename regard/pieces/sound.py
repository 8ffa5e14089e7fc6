"""A sound as pieces: the spans of time that a model reads, each with its frames."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from regard.pieces.backdrop import Backdrop
from regard.pieces.pieces import Pieces
from regard.text import Word


def spans(loudness: NDArray[np.uint8], frames: int, step: float) -> Pieces:
    """A spectrogram (bands, all frames) cut into spans of ``frames`` frames, ``step`` seconds
    each; a span is named by its seconds: "0.05–0.10 s"."""
    starts = range(0, loudness.shape[1], frames)
    labels = [f"{start * step:.2f}–{(start + frames) * step:.2f} s" for start in starts]
    no = [False] * len(labels)
    return Pieces(
        labels,
        [Word(label, i, i + 1) for i, label in enumerate(labels)],
        special=no,
        separators=no,
        unknown=no,
        places=[(start, start + frames) for start in starts],
        ids=list(range(len(labels))),  # no span is another one again
        backdrop=Backdrop("spectrogram", loudness.astype(np.float32)),
    )
