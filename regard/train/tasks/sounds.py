"""The task of classifying sounds: their spectrograms are images, cut into spans of time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from regard.models.images import ImageConfig, sized_images
from regard.models.spectrogram import STEP
from regard.train.data.images import LabelledImages
from regard.train.data.sounds import read_sounds
from regard.train.data.thingconfig import SoundsConfig
from regard.train.tasks.images import Classed, ClassifyPictures, divided

SPAN = 5
"""Frames of a piece: 50 ms."""


class ClassifySounds(ClassifyPictures[SoundsConfig]):
    """``regard train classify --sounds``."""

    task = "sounds"
    reads = "sounds"
    data_config = SoundsConfig
    undecided: ClassVar[Mapping[str, Any]] = {
        "rows": 32,
        "columns": 25_200,  # which every usual span divides
        "channels": 1,
        "labels": ("0", "1"),
    }
    paths: ClassVar[Iterable[str]] = ("sounds", "valid", "test")

    def sized(self, model: str, size: str, **settings: Any) -> ImageConfig:
        sides = self.sides(settings["rows"], settings["columns"])
        return sized_images(model, size, sides=sides, **settings)

    def read(self, data: SoundsConfig) -> Classed:
        return divided_sounds(data)

    def sides(self, rows: int, columns: int) -> tuple[int, int]:
        return rows, SPAN

    def size(self, images: LabelledImages) -> str:
        _, bands, frames, _ = images.pixels.shape
        return f"{frames * STEP:.2f} s of each, {frames} frames of {bands} bands"

    def notes(self, corpus: Classed, data: SoundsConfig) -> Iterable[str]:
        yield from super().notes(corpus, data)
        if corpus.shortened:
            are = "is" if corpus.shortened == 1 else "are"
            yield (
                f"{corpus.shortened:,} of the sounds {are} longer: their rest is not read "
                "(data.seconds)"
            )


def frames_of(data: SoundsConfig) -> int:
    """Frames of the seconds that are read, in whole spans."""
    return max(1, round(data.seconds / (SPAN * STEP))) * SPAN


def divided_sounds(data: SoundsConfig) -> Classed:
    """Read and divide; the user's own validation and test folders are kept whole."""
    assert data.sounds is not None, "SoundsConfig checks this"
    frames = frames_of(data)
    return divided(data, data.sounds, lambda path: read_sounds(path, data.bands, frames), "sounds")
