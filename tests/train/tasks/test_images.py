"""Training on images by the command: learned, measured, resumed to the bit, read."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from tests.cli.run import Done, regard


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three kinds of images: a bright bar above, in the middle, below."""
    made = tmp_path_factory.mktemp("bars")
    chance = np.random.default_rng(5)
    labels = chance.integers(0, 3, 240)
    images = chance.integers(0, 90, (240, 12, 8), dtype=np.uint8)
    for image, label in zip(images, labels, strict=True):
        image[4 * label : 4 * label + 4] += 150
    np.savez(made / "bars.npz", images=images, labels=np.array(["top", "mid", "low"])[labels])
    return made


def train(folder: Path, name: str, *more: str) -> Done:
    flags = ("--size", "tiny", "--epochs", "4", "--threads", "1", "--batch-tokens", "360")
    return regard(
        "train", "classify", "--images", "bars.npz", *flags, *more, "-o", name, folder=folder
    )


@pytest.mark.parametrize("model", ["patches", "conv"])
def test_trained_measured_and_read(folder: Path, model: str) -> None:
    done = train(folder, model, "--model", model, "--epochs", "8")
    assert done.returncode == 0, done.stderr
    assert "images to train on" in done.stdout
    assert "8 x 12 pixels, grey" in done.stdout
    measured = regard("evaluate", model, "--json", "-", folder=folder)
    figures = json.loads(measured.stdout)
    assert figures["accuracy"] > 0.9
    assert figures["labels"] == ["low", "mid", "top"]
    assert sum(map(sum, figures["confusion"])) == figures["images"]
    assert "accuracy" in regard("evaluate", model, folder=folder).stdout
    Image.fromarray(np.load(folder / "bars.npz")["images"][0]).save(folder / "own.png")
    said = regard("read", "--model", model, "--image", "own.png", folder=folder)
    assert said.returncode == 0, said.stderr
    first = said.stdout.splitlines()[0].split()
    assert first[2] == np.load(folder / "bars.npz")["labels"][0]
    assert ("what it decided by" in said.stdout) == (model == "patches")
    content = json.loads(
        regard("read", "--model", model, "--image", "own.png", "--json", "-", folder=folder).stdout
    )
    assert sum(content["labels"].values()) == pytest.approx(1, abs=1e-5)


def test_a_run_goes_on_without_being_told_of_its_images(folder: Path) -> None:
    train(folder, "on", "--model", "average", "--epochs", "1")
    done = regard("train", "classify", "--epochs", "2", "-o", "on", "--resume", folder=folder)
    assert done.returncode == 0, done.stderr
    assert "after 26 updates" in done.stdout


def test_a_share_of_the_training_images(folder: Path) -> None:
    done = train(folder, "share", "--model", "average", "--train-share", "0.1")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("19 images to train on")


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--model", "cnn"), "model must be one of patches, conv, average, got 'cnn'"),
        (("--level", "word"), "there is no setting data.level"),
        (("--train-share", "2"), "data.train_share must be above 0, at most 1, got 2.0"),
        (("--set", "model.patch=5"), "patch must divide the image"),
        (("--test", "none.npz"), "there are no images at"),
    ],
)
def test_refused_in_one_line(folder: Path, more: tuple[str, ...], said: str) -> None:
    done = train(folder, "refused", *more)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (folder / "refused" / "config.json").exists()


def test_labels_that_never_occur_in_training(folder: Path) -> None:
    content = np.load(folder / "bars.npz")
    np.savez(folder / "new.npz", images=content["images"][:9], labels=np.array(["new"] * 9))
    done = train(folder, "refused", "--test", "new.npz")
    assert "the test part has the label 'new', which never occurs in training" in done.stderr
    done = train(folder, "known", "--model", "average")
    done = regard("evaluate", "known", "--images", "new.npz", folder=folder)
    assert "'known' knows no label 'new': it has low, mid, top" in done.stderr


def test_weights_of_other_labels_are_refused(folder: Path) -> None:
    """As many labels, so that all numbers would fit."""
    assert train(folder, "first", "--model", "average", "--steps", "2").returncode == 0
    content = np.load(folder / "bars.npz")
    names = np.where(content["labels"] == "mid", "zenith", content["labels"])
    np.savez(folder / "named.npz", images=content["images"], labels=names)
    told = ["train", "classify", "--images", "named.npz", "--model", "average", "--size", "tiny"]
    done = regard(*told, "--from", "first", "-o", "second", folder=folder)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert (
        "'first' knows the labels low, mid, top, and this data has low, top, zenith" in done.stderr
    )
    assert not (folder / "second" / "config.json").exists()
    done = train(folder, "third", "--model", "average", "--steps", "2", "--from", "first")
    assert done.returncode == 0, done.stderr


def test_a_patch_is_held_against_the_images_at_hand(folder: Path) -> None:
    """8 divides these 8 columns, though not the 28 that a collection of images often has."""
    done = train(folder, "wide", "--set", "model.patch=8", "--set", "model.height=3", "--steps=1")
    assert done.returncode == 0, done.stderr
    refused = train(folder, "odd", "--set", "model.patch=5")
    assert refused.returncode == 2
    assert "patch must divide the image, 12 x 8 pixels; got 5" in refused.stderr
    assert not (folder / "odd").exists()


def test_a_rate_is_found(folder: Path) -> None:
    done = regard(
        *("train", "classify", "--images", "bars.npz", "--size", "tiny", "--find-rate"),
        folder=folder,
    )
    assert done.returncode == 0, done.stderr
    assert "try --learning-rate" in done.stdout
