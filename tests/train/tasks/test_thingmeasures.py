"""Measures of things: the shipped model of images on images of its own kind, and of others."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.errors import RegardError
from regard.live.examples import IMAGES
from regard.store.folder import load_image_classifier
from regard.store.shipped import HOME
from regard.train.tasks.evaluate import evaluate
from regard.train.tasks.images import said_of

FASHION = HOME / "fashion"


@pytest.fixture
def examples() -> tuple[np.ndarray, list[str]]:
    with np.load(FASHION / IMAGES) as held:
        return held["images"], [str(label) for label in held["labels"]]


def saved(path: Path, pixels: np.ndarray, labels: list[str]) -> str:
    np.savez(path, images=pixels, labels=np.array(labels))
    return str(path)


def test_images_are_counted_by_what_the_model_says(
    tmp_path: Path, examples: tuple[np.ndarray, list[str]]
) -> None:
    pixels, labels = examples
    figures = evaluate(FASHION, "fashion", images=saved(tmp_path / "a.npz", pixels, labels))
    model = load_image_classifier(FASHION)
    said = [model.config.labels[i] for i in said_of(model, pixels.reshape(len(pixels), 28, 28, 1))]
    right = [one == other for one, other in zip(said, labels, strict=True)]
    assert figures["images"] == len(labels)
    assert figures["accuracy"] == pytest.approx(np.mean(right))
    assert np.sum(figures["confusion"]) == len(labels)
    assert figures["labels"] == list(model.config.labels)


def test_what_the_model_cannot_be_measured_by(
    tmp_path: Path, examples: tuple[np.ndarray, list[str]]
) -> None:
    pixels, labels = examples
    strange = saved(tmp_path / "a.npz", pixels, ["hat", *labels[1:]])
    with pytest.raises(RegardError, match=r"^'fashion' knows no label 'hat': it has bag, c"):
        evaluate(FASHION, "fashion", images=strange)
    small = saved(tmp_path / "b.npz", pixels[:, :27], labels)
    with pytest.raises(RegardError, match=r"reads images of \(28, 28, 1\) .*, got \(27, 28, 1\)$"):
        evaluate(FASHION, "fashion", images=small)
