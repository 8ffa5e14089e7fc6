"""Examples: what a page offers to begin with, and proves itself by: sentences, or images."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import FileError
from regard.inside.imagemodel import open_image
from regard.inside.imagereading import sized_pixels
from regard.models.images import ImageConfig
from regard.store.folder import RunFolder
from regard.store.shipped import HOME

SENTENCES = {
    "translate": (
        "Können Sie mir helfen?",
        "Ich habe gestern ein Buch gelesen.",
        "Wo ist der nächste Bahnhof?",
    ),
    "english-german": (
        "Can you help me?",
        "I read a book yesterday.",
        "Where is the nearest station?",
    ),
    "sentence": (
        "The animal didn't cross the street because it was too tired",
        "The dog was exhausted and stayed on its side of the road",
        "The stock market fell sharply on Monday",
    ),
    "lm": (
        "The children are playing in the",
        "I have never seen such a beautiful",
        "She asked him if he wanted to",
    ),
}
"""For the models that come with regard: by their names, or by their tasks."""
IMAGES = "examples.npz"
"""Beside the weights of a model that comes with regard: ``images`` and ``labels``."""


@dataclass(frozen=True)
class ExampleImage:
    """An image as a model reads it."""

    name: str
    pixels: NDArray[np.uint8]
    """(rows, columns, channels)"""

    def __str__(self) -> str:
        return self.name


def example_sentences(run: RunFolder, task: str) -> tuple[str, ...]:
    """Those of the models that come with regard; of a run, sentences it was not trained on."""
    if run.path.parent == HOME:
        return SENTENCES.get(run.path.name, SENTENCES[task])
    file = run.test if task == "translate" else run.test_text
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise FileError(
            f"{run.name!r} has no {file.name} to take example sentences from: give some with "
            "--example"
        ) from error
    texts = [line.split("\t")[0].strip() for line in lines]
    return tuple([text for text in texts if 3 <= len(text.split()) <= 12][:3] or texts[:3])


def example_images(
    run: RunFolder, config: dict[str, Any], files: Sequence[str]
) -> tuple[ExampleImage, ...]:
    """The images of ``files``, as large as the model wants them; else those beside its weights."""
    if files:
        size = ImageConfig.from_dict(config)
        return tuple(
            ExampleImage(Path(file).stem, sized_pixels(open_image(file), size)) for file in files
        )
    stored = run.path / IMAGES
    if not os.path.isfile(stored):
        raise FileError(
            f"{run.name!r} has no {IMAGES} to take images from: give some with --example FILE"
        )
    with np.load(stored, allow_pickle=False) as content:
        images, labels = content["images"], content["labels"]
    shape = config["rows"], config["columns"], config["channels"]
    return tuple(
        ExampleImage(str(label), image.reshape(shape))
        for image, label in zip(images, labels, strict=True)
    )
