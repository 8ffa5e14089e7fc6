"""Sounds with labels: wav files of a folder, each as the image of its spectrogram."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from regard.errors import DataError
from regard.models.spectrogram import STEP, spectrogram
from regard.pieces.wave import read_wave
from regard.train.data.images import LabelledImages

MOST_BYTES = 2 << 30
"""Of all spectrograms together: more is refused before a sound is read."""


def read_sounds(path: str | os.PathLike[str], bands: int, frames: int) -> LabelledImages:
    """The wav files of a folder: in a folder for each label, or all in one, the label of each
    before the first _ of its name. The images are (bands, frames), the lowest band first."""
    folder = Path(path)
    if not folder.is_dir():
        raise DataError(f"there are no sounds at {str(folder)!r}: a folder of wav files")
    files = list(_labelled(folder))
    if not files:
        raise DataError(
            f"{str(folder)!r} has no sounds: it should have a folder for each label and .wav files "
            "in it, or .wav files named LABEL_….wav"
        )
    size = len(files) * bands * frames
    if size > MOST_BYTES:
        raise DataError(
            f"the spectrograms of {str(folder)!r} would have {size:,} bytes, more than "
            f"{MOST_BYTES:,}: read fewer seconds of each"
        )
    pixels = np.empty((len(files), bands, frames, 1), np.uint8)
    longer = 0
    for place, (_, file) in enumerate(files):
        wave = read_wave(file)
        pixels[place, ..., 0] = spectrogram(wave, bands, frames)
        longer += wave.seconds > frames * STEP
    return LabelledImages(pixels, [label for label, _ in files], longer)


def _labelled(folder: Path) -> Iterator[tuple[str, Path]]:
    """Every wav file and its label."""
    for entry in sorted(folder.iterdir()):
        if entry.is_dir():
            yield from ((entry.name, file) for file in sorted(entry.iterdir()) if _is_wav(file))
        elif _is_wav(entry):
            label, mark, _ = entry.name.partition("_")
            if not mark or not label:
                raise DataError(
                    f"{str(entry)!r} has no label: put it into a folder named after its label, or "
                    "name it LABEL_….wav"
                )
            yield label, entry


def _is_wav(file: Path) -> bool:
    return file.suffix.lower() in (".wav", ".wave") and not file.name.startswith(".")
