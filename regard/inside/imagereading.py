"""An image read by a classifier that was trained on images: its label, and where it looked."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from regard.inside.imagemodel import open_image
from regard.pieces.image import Patches, patches
from regard.store.folder import load_image_classifier
from regard.store.shipped import find_folder


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


@torch.no_grad()
def judge_image(model: str, file: str) -> ImageVerdict:
    """Read ``file`` with the classifier of a run folder; it is made as large as the model wants."""
    classifier = load_image_classifier(find_folder(model))
    config = classifier.config
    picture = open_image(file)
    small = picture.convert("L" if config.channels == 1 else "RGB")
    small = np.asarray(small.resize((config.columns, config.rows)), np.float32) / 255
    images = torch.tensor(small).reshape(1, config.rows, config.columns, config.channels)
    logits, weights = classifier(images.permute(0, 3, 1, 2))
    shares = logits[0].softmax(-1)
    order = shares.argsort(descending=True).tolist()
    read = None
    if config.patch:
        whole = (0, 0, picture.width, picture.height)
        read = patches(np.asarray(picture), whole, config.grid)
    return ImageVerdict(
        [config.labels[i] for i in order], shares[order].tolist(), read, weights[0].numpy()
    )
