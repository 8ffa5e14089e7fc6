"""What a page offers to begin with."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from regard.errors import DataError, FileError
from regard.live.examples import SENTENCES, example_images, example_sentences
from regard.store.folder import RunFolder
from regard.store.shipped import HOME
from tests.live.runs import TEXTS, save_run

FASHION = RunFolder(HOME / "fashion")
CONFIG = FASHION.read_config()["model"]


def test_sentences_are_those_of_the_model_or_of_the_runs_test(tmp_path: Path) -> None:
    assert example_sentences(RunFolder(HOME / "bahdanau"), "translate") == SENTENCES["translate"]
    english = example_sentences(RunFolder(HOME / "english-german"), "translate")
    assert english[0] == "Can you help me?"
    assert example_sentences(RunFolder(save_run(tmp_path, "near")), "lm") == tuple(TEXTS[:2])


def test_the_model_of_images_has_images_with_names() -> None:
    found = example_images(FASHION, CONFIG, ())
    assert [str(one) for one in found] == ["ankle boot", "trouser", "dress", "bag", "shirt"]
    for one in found:
        assert one.pixels.shape == (28, 28, 1)
        assert one.pixels.dtype == np.uint8
        assert one.pixels.max() > 200


def test_own_images_are_made_as_large_as_the_model_wants(tmp_path: Path) -> None:
    file = tmp_path / "grey square.png"
    Image.new("RGB", (56, 84), (77, 77, 77)).save(file)
    (one,) = example_images(FASHION, CONFIG, [str(file)])
    assert one.name == "grey square"
    np.testing.assert_array_equal(one.pixels, np.full((28, 28, 1), 77))


def test_what_is_no_image_or_is_not_there_is_said(tmp_path: Path) -> None:
    file = tmp_path / "no.png"
    file.write_text("no image")
    with pytest.raises(DataError, match="is no image that Pillow reads"):
        example_images(FASHION, CONFIG, [str(file)])
    with pytest.raises(FileError, match=r"has no examples.npz to take images from: give some with"):
        example_images(RunFolder(tmp_path), CONFIG, ())
