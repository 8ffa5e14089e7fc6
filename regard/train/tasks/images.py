"""The task of classifying images: an ImageClassifier, and its accuracy."""

from __future__ import annotations

from abc import abstractmethod
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np
import torch
from torch import Tensor

from regard.errors import DataError
from regard.files import name_of
from regard.models.images import ImageClassifier, ImageConfig, sized_images, usual_patch
from regard.text import number_of, visible
from regard.train.config import TrainConfig
from regard.train.data.images import LabelledImages, image_parts, read_images
from regard.train.data.scenes import Scenes
from regard.train.data.thingconfig import ImagesConfig, PicturesConfig
from regard.train.settings import Tree
from regard.train.tasks.job import Files, Job, Settings

Pictures = TypeVar("Pictures", LabelledImages, Scenes)
"""Images of one size with a label each, or a label for each pixel."""
AT_ONCE = 256
"""Images of a batch while validating."""
Held = TypeVar("Held", bound=PicturesConfig)


@dataclass(frozen=True)
class DividedImages(Generic[Pictures]):
    """Images to train, to validate and to test on."""

    train: Pictures
    valid: Pictures
    test: Pictures
    digest: str
    shortened: int = 0
    """Of sounds: how many are longer than what is read of them."""

    @property
    def labels(self) -> list[str]:
        """All labels that training knows, sorted: numbers as numbers."""
        return sorted(self.train.kinds(), key=lambda x: (not x.isdigit(), len(x), x))


class ImageTraining:
    """An image classifier in training, as the loop's :class:`~regard.train.tasks.task.Task`."""

    score = "accuracy"
    higher = True

    def __init__(
        self,
        model: ImageClassifier,
        data: DividedImages[LabelledImages],
        config: TrainConfig,
        pieces: int,
    ) -> None:
        """``pieces``: of an image, for the designs that cut it."""
        self.model, self.config, self.pieces = model, config, pieces
        place = {label: i for i, label in enumerate(model.config.labels)}
        self.train, self.valid = data.train.pixels, data.valid.pixels
        self.train_labels = torch.tensor([place[x] for x in data.train.labels])
        self.valid_labels = torch.tensor([place[x] for x in data.valid.labels])

    def batches(self, epoch: int) -> list[list[int]]:
        """All images in an order that (seed, epoch) decide, ``batch_tokens`` patches at once; for
        conv as many images as the others have."""
        many = max(1, self.config.batch_tokens // self.pieces)
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


Classed = DividedImages[LabelledImages]
"""Images with a label each."""


class ClassifyPictures(Job[Held, Classed, Classed, ImageConfig, ImageClassifier]):
    """What classifiers of images have in common, wherever the images come from."""

    model_config = ImageConfig
    usual_model = "patches"
    usual_epochs = 20
    rounded: ClassVar[tuple[str, ...]] = ("patches",)

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        return {"learning_rate": 2e-3, "warmup": 50, "batch_tokens": 1024, "smoothing": 0.0} | {
            "schedule": "cosine"
        }

    def shaped(self, model: Mapping[str, Any], decided: Mapping[str, Any]) -> ImageConfig:
        patch, height = model.get("patch"), model.get("height")
        if decided is self.undecided and isinstance(patch, int) and patch > 0:
            # One patch: whether it divides the image, the data will say.
            decided = {**decided, "rows": height or patch, "columns": patch}
        return super().shaped(model, decided)

    def build(self, config: ImageConfig) -> ImageClassifier:
        return ImageClassifier(config)

    def fingerprint(self, read: Classed) -> str:
        return read.digest

    def encode(self, read: Classed, learned: Files, data: Held) -> Classed:
        return read

    def decided(self, corpus: Classed) -> Tree:
        _, rows, columns, channels = corpus.train.pixels.shape
        labels = tuple(corpus.labels)
        return {"rows": rows, "columns": columns, "channels": channels, "labels": labels}

    def make_task(
        self, model: ImageClassifier, corpus: Classed, settings: Settings[Held]
    ) -> ImageTraining:
        rows, columns = model.config.rows, model.config.columns
        down, across = model.config.sides if model.config.patch else self.sides(rows, columns)
        pieces = rows // down * (columns // across)
        return ImageTraining(model, corpus, settings.train, pieces)

    @abstractmethod
    def sides(self, rows: int, columns: int) -> tuple[int, int]:
        """Rows and columns of a patch, where the user says nothing."""

    def summary(self, corpus: Classed, data: Held) -> dict[str, Any]:
        parts = {"train": corpus.train, "valid": corpus.valid, "test": corpus.test}
        return {name: len(part) for name, part in parts.items()} | {
            "size": list(corpus.train.pixels.shape[1:]),
            "labels": dict(Counter(corpus.train.labels)),
        }

    def notes(self, corpus: Classed, data: Held) -> Iterable[str]:
        train = number_of(len(corpus.train), self.reads.removesuffix("s"))
        yield (
            f"{train} to train on, {len(corpus.valid):,} to validate, "
            f"{len(corpus.test):,} to test; {self.size(corpus.train)}"
        )
        counts = Counter(corpus.train.labels)
        yield f"labels: {', '.join(f'{visible(k)} ({counts[k]:,})' for k in corpus.labels)}"

    @abstractmethod
    def size(self, images: LabelledImages) -> str:
        """How large each of them is, for the user."""


class ClassifyImages(ClassifyPictures[ImagesConfig]):
    """``regard train classify --images``."""

    task = "images"
    reads = "images"
    data_config = ImagesConfig
    undecided: ClassVar[Mapping[str, Any]] = {
        "rows": 28,
        "columns": 28,
        "channels": 1,
        "labels": ("0", "1"),
    }
    paths: ClassVar[Iterable[str]] = ("images", "valid", "test")

    def sized(self, model: str, size: str, **settings: Any) -> ImageConfig:
        return sized_images(model, size, **settings)

    def read(self, data: ImagesConfig) -> Classed:
        return divided_images(data)

    def sides(self, rows: int, columns: int) -> tuple[int, int]:
        return (usual_patch(rows, columns),) * 2

    def size(self, images: LabelledImages) -> str:
        _, rows, columns, channels = images.pixels.shape
        return f"{columns} x {rows} pixels, {'grey' if channels == 1 else 'in colours'}"


def divided_images(data: ImagesConfig) -> Classed:
    """Read and divide; the user's own validation and test files are kept whole."""
    assert data.images is not None, "ImagesConfig checks this"
    return divided(data, data.images, read_images, "images")


def divided(
    data: PicturesConfig, path: str, read: Callable[[str], Pictures], what: str
) -> DividedImages[Pictures]:
    """What ``read`` finds at ``path``, divided; ``what`` they are, for errors."""
    main = read(path)
    given: list[Pictures | None] = [
        read(other) if other else None for other in (data.valid, data.test)
    ]
    for other, part in zip((data.valid, data.test), given, strict=True):
        if part and other and part.pixels.shape[1:] != main.pixels.shape[1:]:
            raise DataError(
                f"the {what} of {name_of(other)} are {part.pixels.shape[1:]}, those to train on "
                f"{main.pixels.shape[1:]}: rows, columns and channels must be the same"
            )
    shares = 0.0 if given[0] else data.valid_share, 0.0 if given[1] else data.test_share
    found = image_parts(main.pixels, *shares, data.split_seed, what)
    rows = {
        part: [i for i, place in enumerate(found) if place == part]
        for part in ("train", "valid", "test")
    }
    keep = max(1, round(data.train_share * len(rows["train"])))
    chance = np.random.Generator(np.random.PCG64([data.split_seed, 1]))
    kept = sorted(chance.permutation(rows["train"])[:keep].tolist())
    everything = [part for part in (main, *given) if part]
    made = DividedImages(
        main.some(kept),
        given[0] or main.some(rows["valid"]),
        given[1] or main.some(rows["test"]),
        " ".join(part.digest()[:16] for part in everything),
        sum(part.shortened for part in everything),
    )
    _check_labels(made, path)
    return made


def _check_labels(data: DividedImages[Pictures], path: str) -> None:
    known = data.train.kinds()
    if len(known) < 2:
        raise DataError(
            f"the training part of {name_of(path)} has one label, {min(known)!r}: there is nothing "
            "to tell apart"
        )
    for name, part in (("validation", data.valid), ("test", data.test)):
        strange = sorted(part.kinds() - known)
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
