"""An image read by a classifier that was trained on images: its label, and where it looked."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from regard.inside.imagemodel import open_image
from regard.models.images import ImageConfig
from regard.pieces.image import Patches, patches
from regard.record import record
from regard.store.folder import load_image_classifier
from regard.store.shipped import find_folder
from regard.trace import Trace


@dataclass(frozen=True)
class ImageVerdict:
    """What a classifier says of an image."""

    labels: list[str]
    """The likeliest first,"""
    probabilities: list[float]
    image: Patches | None
    """The patches that it read; None if it reads none (conv)."""
    weights: NDArray[np.float32]
    """How much of each patch is in what it decided from."""
    trace: Trace
    """What the model did, step by step; empty unless it was asked for."""


@torch.no_grad()
def judge_image(model: str, file: str, *, traced: bool = False) -> ImageVerdict:
    """Read ``file`` with a classifier of images that comes with regard or that was trained.

    The image is made as large as the model wants; ``traced`` keeps every step of it.
    """
    classifier = load_image_classifier(find_folder(model))
    config = classifier.config
    picture = open_image(file)
    images = torch.tensor(sized_pixels(picture, config)).unsqueeze(0) / 255
    read = None
    if config.patch:
        whole = (0, 0, picture.width, picture.height)
        read = patches(np.asarray(picture), whole, config.grid)
    labels = read.pieces.labels if read else []
    with record(config.model, labels, only=None if traced else ()) as trace:
        logits, weights = classifier(images.permute(0, 3, 1, 2))
    shares = logits[0].softmax(-1)
    order = shares.argsort(descending=True).tolist()
    return ImageVerdict(
        [config.labels[i] for i in order], shares[order].tolist(), read, weights[0].numpy(), trace
    )


def sized_pixels(picture: Any, config: ImageConfig) -> NDArray[np.uint8]:
    """A Pillow image as large as the model wants it: (rows, columns, channels)."""
    small = picture.convert("L" if config.channels == 1 else "RGB")
    pixels = np.array(small.resize((config.columns, config.rows)), np.uint8)
    return pixels.reshape(config.rows, config.columns, config.channels)
