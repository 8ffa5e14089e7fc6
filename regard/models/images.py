"""Image classifier: which label an image has, read from its patches or by convolutions.

Shapes::

    images (B, channels, rows, columns), from 0 to 1; patches (B, n, pixels · channels)
    logits (B, labels); weights (B, n)
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt, prod
from typing import Any, ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.models.classifier import Classifier, ClassifierConfig, Decision
from regard.models.config import ModelConfig, check_size, share, whole

IMAGE_DESIGNS = ("patches", "conv", "average")
"""A Transformer over patches; two convolutions and a hidden layer; the mean of the patches."""
CHANNELS = (16, 32)
"""Of the two convolutions."""
SHAPES: dict[str, dict[str, int]] = {
    "tiny": {"width": 32, "layers": 2, "heads": 4, "feedforward": 64},
    "small": {"width": 64, "layers": 3, "heads": 4, "feedforward": 128},
    "base": {"width": 128, "layers": 4, "heads": 8, "feedforward": 256},
}


@dataclass(frozen=True)
class ImageConfig(ModelConfig):
    """The shape of an image classifier. What a design does not have stays 0."""

    model: str
    """One of :data:`IMAGE_DESIGNS`."""
    rows: int
    """Pixels from top to bottom,"""
    columns: int
    """and from left to right."""
    channels: int
    """1 for grey, 3 for red, green and blue."""
    labels: tuple[str, ...]
    """The names of the classes."""
    patch: int = 0
    """patches, average: pixels of a patch from left to right; it must divide the columns."""
    height: int = 0
    """patches, average: and from top to bottom, a divisor of rows; 0: the same."""
    width: int = 0
    """patches, average: of the vector of a patch."""
    layers: int = 0
    """patches: Transformer layers."""
    heads: int = 0
    """patches: attention heads of a layer."""
    feedforward: int = 0
    """patches: the width inside the feed-forward network."""
    hidden: int = 0
    """conv: units between the convolutions and the labels."""
    dropout: float = 0.0
    """The share of numbers dropped while training."""

    what: ClassVar[str] = "an image classifier"
    always: ClassVar[tuple[str, ...]] = ("dropout",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "labels", tuple(self.labels))  # JSON has lists
        super().__post_init__()

    def problems(self) -> Iterator[str]:
        if self.model not in IMAGE_DESIGNS:
            yield f"model must be one of {', '.join(IMAGE_DESIGNS)}, got {self.model!r}"
            return
        own = {
            "patches": ("patch", "height", "width", "layers", "heads", "feedforward"),
            "average": ("patch", "height", "width"),
            "conv": ("hidden",),
        }[self.model]
        for name in ("rows", "columns", "channels", *own):
            yield from whole(name, getattr(self, name), 0 if name == "height" else 1)
        for name in ("patch", "height", "width", "layers", "heads", "feedforward", "hidden"):
            if name not in own and getattr(self, name) != 0:
                yield f"{self.model} has no {name}: leave it out, got {getattr(self, name)!r}"
        yield from share("dropout", self.dropout)
        yield from self._fit()

    def _fit(self) -> Iterator[str]:
        """What is wrong between the settings."""
        sizes = (self.rows, self.columns, self.patch, self.height, self.heads, self.width)
        if not all(isinstance(size, int) for size in sizes):
            return
        if self.patch > 0 and (self.rows % self.sides[0] or self.columns % self.patch):
            got = f"{self.height} x {self.patch}" if self.height else self.patch
            yield f"patch must divide the image, {self.rows} x {self.columns} pixels; got {got}"
        if self.heads > 0 and self.width % self.heads:
            yield f"heads must divide width, got {self.heads} and {self.width}"
        if self.model == "conv" and min(self.rows, self.columns) < 4:
            yield f"conv halves the image twice: {self.rows} x {self.columns} is too small"

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"labels": list(self.labels)}

    @property
    def sides(self) -> tuple[int, int]:
        """Rows and columns of pixels of a patch."""
        return self.height or self.patch, self.patch

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of patches."""
        return self.rows // self.sides[0], self.columns // self.patch


def sized_images(
    model: str,
    size: str,
    *,
    rows: int,
    columns: int,
    channels: int,
    labels: tuple[str, ...],
    sides: tuple[int, int] | None = None,
    **own: Any,
) -> ImageConfig:
    """The config of a design in a named ``size``; ``own`` replaces single settings.

    ``sides``: rows and columns of pixels of a patch, where it is not the usual square.
    ``conv`` gets as many hidden units as give it the parameters of ``patches`` of that size.
    """
    check_size(model, IMAGE_DESIGNS, size)
    given: dict[str, Any] = {
        "rows": rows,
        "columns": columns,
        "channels": channels,
        "labels": labels,
    }
    cut_by = {"patch": usual_patch(rows, columns)}
    if sides is not None:
        cut_by = {"height": sides[0], "patch": sides[1]}
    of_patches: dict[str, Any] = {"dropout": 0.1, **cut_by, **SHAPES[size]}
    if model == "patches":
        return ImageConfig(model=model, **given, **(of_patches | own))
    if model == "average":
        chosen = {name: of_patches[name] for name in (*cut_by, "width", "dropout")}
        return ImageConfig(model=model, **given, **(chosen | own))
    equal = sum(
        p.numel()
        for p in ImageClassifier(ImageConfig(model="patches", **given, **of_patches)).parameters()
    )
    fixed = CHANNELS[0] * (9 * channels + 1) + CHANNELS[1] * (9 * CHANNELS[0] + 1) + len(labels)
    a_unit = CHANNELS[1] * (rows // 4) * (columns // 4) + 1 + len(labels)
    hidden = max(len(labels), round((equal - fixed) / a_unit))
    return ImageConfig(model=model, **given, **({"hidden": hidden, "dropout": 0.1} | own))


def usual_patch(rows: int, columns: int) -> int:
    """The largest patch that has no more pixels on its side than the shorter side has patches."""
    most = isqrt(min(rows, columns))
    return max(n for n in range(1, most + 1) if not (rows % n or columns % n))


class ImageClassifier(nn.Module):
    """p(label | image), in one of three designs.

        patches   x_j = W patch_j + p_j,  then the :class:`Classifier` with Transformer layers
        average   the same without layers: the mean of the x_j decides
        conv      two convolutions of 3 x 3, each halved by its largest, and a hidden layer

    p_j is learned: where a patch stands is not in its pixels.
    """

    def __init__(self, config: ImageConfig) -> None:
        super().__init__()
        self.config = config
        if config.model == "conv":
            first, second = CHANNELS
            self.conv = nn.Sequential(
                nn.Conv2d(config.channels, first, 3, padding=1),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Conv2d(first, second, 3, padding=1),
                nn.ReLU(),
                nn.MaxPool2d(2),
                nn.Flatten(),
                nn.Linear(second * (config.rows // 4) * (config.columns // 4), config.hidden),
                nn.ReLU(),
                nn.Dropout(config.dropout),
                nn.Linear(config.hidden, len(config.labels)),
            )
            return
        down, across = config.grid
        self.embed = nn.Linear(prod(config.sides) * config.channels, config.width)
        self.places = nn.Parameter(torch.randn(down * across, config.width) * 0.02)
        self.reader = Classifier(_reader_config(config))

    def forward(self, images: Tensor) -> Decision:
        """The labels' scores, and how much of each patch is in what decided; of conv, nothing."""
        if self.config.model == "conv":
            logits = self.conv(images)
            return Decision(logits, logits.new_zeros(len(images), 0))
        vectors = self.embed(cut(images, self.config.sides)) + self.places
        lengths = torch.full((len(images),), vectors.shape[1], device=images.device)
        return self.reader.decide(vectors, lengths)

    def loss(self, images: Tensor, labels: Tensor, smoothing: float = 0.0) -> Tensor:
        """The sum of the cross-entropies of the right ``labels`` (B,)."""
        logits = self(images).logits
        return F.cross_entropy(logits, labels, reduction="sum", label_smoothing=smoothing)


def cut(images: Tensor, sides: tuple[int, int]) -> Tensor:
    """Patches (B, n, pixels · channels) of images (B, channels, rows, columns), row by row;
    ``sides`` are the rows and columns of a patch."""
    return F.unfold(images, sides, stride=sides).transpose(1, 2)


def _reader_config(config: ImageConfig) -> ClassifierConfig:
    shape: dict[str, Any] = {"width": config.width, "dropout": config.dropout}
    if config.model == "average":
        return ClassifierConfig(
            model="words", vocabulary=0, labels=config.labels, readout="mean", **shape
        )
    return ClassifierConfig(
        model="transformer",
        vocabulary=0,
        labels=config.labels,
        readout="attention",
        layers=config.layers,
        heads=config.heads,
        feedforward=config.feedforward,
        norm="pre",
        **shape,
    )
