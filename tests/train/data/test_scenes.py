"""Scenes: the class of a patch by hand, and files that are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.errors import DataError
from regard.train.data.scenes import Scenes, read_scenes


def saved(tmp_path: Path, **arrays: Any) -> Path:
    path = tmp_path / "scenes.npz"
    usual: dict[str, Any] = {
        "images": np.arange(32, dtype=np.uint8).reshape(2, 4, 4),
        "labels": np.repeat([0, 2], 16).reshape(2, 4, 4),
    }
    np.savez(path, **(usual | arrays))
    return path


def test_a_patch_has_the_class_of_most_of_its_pixels() -> None:
    classes = np.array([[[0, 1, 2, 2], [1, 1, 0, 1], [2, 2, 0, 0], [0, 0, 2, 1]]], np.uint8)
    scenes = Scenes(np.zeros((1, 4, 4, 1), np.uint8), classes, ["a", "b", "c"])
    # three of 1; two of 2; two each of 0 and 2, of which the smaller; two of 0
    assert scenes.patches(2).tolist() == [[1, 2, 0, 0]]
    assert scenes.patches(1).tolist() == [classes.ravel().tolist()]
    assert scenes.patches(4).tolist() == [[0]]  # six of 0, five each of 1 and 2


def test_read(tmp_path: Path) -> None:
    found = read_scenes(saved(tmp_path))
    assert found.pixels.shape == (2, 4, 4, 1)
    assert found.names == ["0", "1", "2"]
    assert found.kinds() == {"0", "2"}
    named = read_scenes(saved(tmp_path, names=["ground", "sky", "tree"]))
    assert named.kinds() == {"ground", "tree"}
    assert named.digest() != found.digest()
    assert named.some([1]).kinds() == {"tree"}
    assert len(named.some([1])) == 1


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"labels": np.array([0, 1])}, r"a number for each pixel, \(2, 4, 4\); those of"),
        ({"labels": np.zeros((2, 4, 4))}, "must be whole numbers from 0 to 255"),
        ({"labels": np.full((2, 4, 4), -1)}, "must be whole numbers from 0 to 255"),
        ({"labels": np.full((2, 4, 4), 256)}, "must be whole numbers from 0 to 255"),
        ({"names": ["a", "b"]}, "has labels up to 2: it must have a name of its own for each"),
        ({"names": ["a", "b", "b"]}, "a name of its own for each"),
        ({"images": np.zeros((3, 4, 4), np.uint8)}, "has 3 images and 2 labels"),
    ],
)
def test_refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        read_scenes(saved(tmp_path, **arrays))


def test_there_must_be_a_file(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"there are no scenes at .*: an npz file"):
        read_scenes(tmp_path)
