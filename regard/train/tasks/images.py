"""The task of classifying images: an ImageClassifier, and its accuracy."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from regard.errors import DataError
from regard.files import name_of
from regard.models.images import ImageClassifier, ImageConfig, sized_images, usual_patch
from regard.text import visible
from regard.train.config import TrainConfig
from regard.train.data.config import ImagesConfig
from regard.train.data.images import LabelledImages, read_images
from regard.train.settings import Tree
from regard.train.tasks.job import Files, Job, Settings

AT_ONCE = 256
"""Images of a batch while validating."""


@dataclass(frozen=True)
class DividedImages:
    """Images to train, to validate and to test on."""

    train: LabelledImages
    valid: LabelledImages
    test: LabelledImages
    digest: str

    @property
    def labels(self) -> list[str]:
        """All labels that training knows, sorted: numbers as numbers."""
        return sorted(set(self.train.labels), key=lambda x: (not x.isdigit(), len(x), x))


class ImageTraining:
    """An image classifier in training, as the loop's :class:`~regard.train.tasks.task.Task`."""

    score = "accuracy"
    higher = True

    def __init__(self, model: ImageClassifier, data: DividedImages, config: TrainConfig) -> None:
        self.model, self.config = model, config
        place = {label: i for i, label in enumerate(model.config.labels)}
        self.train, self.valid = data.train.pixels, data.valid.pixels
        self.train_labels = torch.tensor([place[x] for x in data.train.labels])
        self.valid_labels = torch.tensor([place[x] for x in data.valid.labels])

    def batches(self, epoch: int) -> list[list[int]]:
        """All images in an order that (seed, epoch) decide, ``batch_tokens`` patches at once; for
        conv as many images as the others have."""
        config = self.model.config
        patch = config.patch or usual_patch(config.rows, config.columns)
        pieces = config.rows // patch * (config.columns // patch)
        many = max(1, self.config.batch_tokens // pieces)
        chance = np.random.Generator(np.random.PCG64([self.config.seed, epoch]))
        order = chance.permutation(len(self.train)).tolist()
        return [order[i : i + many] for i in range(0, len(order), many)]

    def targets(self, rows: list[int]) -> int:
        return len(rows)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return self._loss(self.train, self.train_labels, rows, smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self._loss(self.valid, self.valid_labels, rows, 0.0)

    def _loss(
        self, pixels: np.ndarray[Any, Any], labels: Tensor, rows: list[int], smoothing: float
    ) -> Tensor:
        device = next(self.model.parameters()).device
        images = as_input(pixels[rows]).to(device)
        return self.model.loss(images, labels[rows].to(device), smoothing)

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        count = len(self.valid)
        chunks = [list(range(i, min(count, i + AT_ONCE))) for i in range(0, count, AT_ONCE)]
        figures = {"loss": sum(float(forward(rows)) for rows in chunks) / count}
        if decode:
            said = torch.tensor(said_of(self.model, self.valid))
            figures["score"] = 100 * float((said == self.valid_labels).double().mean())
        return figures


class ClassifyImages(Job[ImagesConfig, DividedImages, DividedImages, ImageConfig, ImageClassifier]):
    """``regard train classify --images``."""

    task = "images"
    reads = "images"
    data_config = ImagesConfig
    model_config = ImageConfig
    usual_model = "patches"
    usual_epochs = 20
    undecided: ClassVar[Mapping[str, Any]] = {
        "rows": 28,
        "columns": 28,
        "channels": 1,
        "labels": ("0", "1"),
    }
    paths: ClassVar[Iterable[str]] = ("images", "valid", "test")
    rounded: ClassVar[tuple[str, ...]] = ("patches",)

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        return {"learning_rate": 2e-3, "warmup": 50, "batch_tokens": 1024, "smoothing": 0.0} | {
            "schedule": "cosine"
        }

    def sized(self, model: str, size: str, **settings: Any) -> ImageConfig:
        return sized_images(model, size, **settings)

    def build(self, config: ImageConfig) -> ImageClassifier:
        return ImageClassifier(config)

    def read(self, data: ImagesConfig) -> DividedImages:
        return divided_images(data)

    def fingerprint(self, read: DividedImages) -> str:
        return read.digest

    def encode(self, read: DividedImages, learned: Files, data: ImagesConfig) -> DividedImages:
        return read

    def decided(self, corpus: DividedImages) -> Tree:
        _, rows, columns, channels = corpus.train.pixels.shape
        labels = tuple(corpus.labels)
        return {"rows": rows, "columns": columns, "channels": channels, "labels": labels}

    def make_task(
        self, model: ImageClassifier, corpus: DividedImages, settings: Settings[ImagesConfig]
    ) -> ImageTraining:
        return ImageTraining(model, corpus, settings.train)

    def summary(self, corpus: DividedImages, data: ImagesConfig) -> dict[str, Any]:
        parts = {"train": corpus.train, "valid": corpus.valid, "test": corpus.test}
        return {name: len(part) for name, part in parts.items()} | {
            "size": list(corpus.train.pixels.shape[1:]),
            "labels": dict(Counter(corpus.train.labels)),
        }

    def notes(self, corpus: DividedImages, data: ImagesConfig) -> Iterable[str]:
        _, rows, columns, channels = corpus.train.pixels.shape
        yield (
            f"{len(corpus.train):,} images to train on, {len(corpus.valid):,} to validate, "
            f"{len(corpus.test):,} to test; {columns} x {rows} pixels, "
            f"{'grey' if channels == 1 else 'in colours'}"
        )
        counts = Counter(corpus.train.labels)
        yield f"labels: {', '.join(f'{visible(k)} ({counts[k]:,})' for k in corpus.labels)}"


def divided_images(data: ImagesConfig) -> DividedImages:
    """Read and divide; the user's own validation and test files are kept whole."""
    assert data.images is not None, "ImagesConfig checks this"
    main = read_images(data.images)
    given = [read_images(path) if path else None for path in (data.valid, data.test)]
    for path, part in zip((data.valid, data.test), given, strict=True):
        if part and path and part.pixels.shape[1:] != main.pixels.shape[1:]:
            raise DataError(
                f"the images of {name_of(path)} are {part.pixels.shape[1:]}, those to train on "
                f"{main.pixels.shape[1:]}: rows, columns and channels must be the same"
            )
    shares = 0.0 if given[0] else data.valid_share, 0.0 if given[1] else data.test_share
    found = main.parts(*shares, data.split_seed)
    rows = {
        part: [i for i, place in enumerate(found) if place == part]
        for part in ("train", "valid", "test")
    }
    keep = max(1, round(data.train_share * len(rows["train"])))
    chance = np.random.Generator(np.random.PCG64([data.split_seed, 1]))
    kept = sorted(chance.permutation(rows["train"])[:keep].tolist())
    digest = " ".join(part.digest()[:16] for part in (main, *given) if part)
    made = DividedImages(
        main.some(kept),
        given[0] or main.some(rows["valid"]),
        given[1] or main.some(rows["test"]),
        digest,
    )
    _check_labels(made, data.images)
    return made


def _check_labels(data: DividedImages, path: str) -> None:
    known = set(data.train.labels)
    if len(known) < 2:
        raise DataError(
            f"the training part of {name_of(path)} has one label, {data.train.labels[0]!r}: there "
            "is nothing to tell apart"
        )
    for name, part in (("validation", data.valid), ("test", data.test)):
        strange = sorted(set(part.labels) - known)
        if strange:
            raise DataError(
                f"the {name} part has the label {strange[0]!r}, which never occurs in training"
            )


def as_input(pixels: np.ndarray[Any, Any]) -> Tensor:
    """(B, channels, rows, columns) from 0 to 1, of bytes (B, rows, columns, channels)."""
    return torch.from_numpy(np.ascontiguousarray(pixels.transpose(0, 3, 1, 2))).float() / 255


@torch.no_grad()
def said_of(model: ImageClassifier, pixels: np.ndarray[Any, Any]) -> list[int]:
    """The place of the label that the model gives each image."""
    device = next(model.parameters()).device
    said: list[int] = []
    for start in range(0, len(pixels), AT_ONCE):
        images = as_input(pixels[start : start + AT_ONCE]).to(device)
        said += model(images).logits.argmax(-1).tolist()
    return said
