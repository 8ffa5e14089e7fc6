"""Scenes: images with a class for each pixel, of an npz file."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.files import name_of
from regard.train.data.images import read_npz

MOST = 256
"""Classes of pixels; more are a sign that labels are something else."""


@dataclass(frozen=True)
class Scenes:
    """Images of one size and the class of each of their pixels."""

    pixels: NDArray[np.uint8]
    """(N, rows, columns, channels)"""
    classes: NDArray[np.uint8]
    """(N, rows, columns), by number"""
    names: list[str]
    """What the classes are called."""
    shortened: int = 0
    """None of them: a scene is read whole."""

    def __len__(self) -> int:
        return len(self.pixels)

    def some(self, rows: Sequence[int]) -> Scenes:
        """Those of these places."""
        return Scenes(self.pixels[list(rows)], self.classes[list(rows)], self.names)

    def digest(self) -> str:
        """A fingerprint of the images, classes and names in their order."""
        found = hashlib.sha256("\n".join(self.names).encode())
        for array in (self.pixels, self.classes):
            found.update(repr(array.shape).encode())
            found.update(np.ascontiguousarray(array).data)
        return found.hexdigest()

    def kinds(self) -> set[str]:
        """The classes that occur, by name."""
        return {self.names[i] for i in np.unique(self.classes).tolist()}

    def patches(self, side: int) -> NDArray[np.int64]:
        """(N, patches): the class that most pixels of each patch have, row by row; of several the
        one with the smallest number."""
        n, rows, columns = self.classes.shape
        cut = self.classes.reshape(n, rows // side, side, columns // side, side)
        flat = cut.transpose(0, 1, 3, 2, 4).reshape(-1, side * side)
        counts = np.stack([(flat == i).sum(-1) for i in range(len(self.names))], -1)
        found: NDArray[np.int64] = counts.argmax(-1).reshape(n, -1)
        return found


def read_scenes(path: str | os.PathLike[str]) -> Scenes:
    """An npz file with ``images``, ``labels`` (a whole number for each pixel) and, if its classes
    have names, ``names``."""
    name = name_of(path)
    if not os.path.isfile(path) or not str(path).endswith(".npz"):
        raise DataError(f"there are no scenes at {name}: an npz file with images and labels")
    content = read_npz(path)
    pixels, classes = content["images"], content["labels"]
    if classes.shape != pixels.shape[:3]:
        raise DataError(
            f"labels have a number for each pixel, {pixels.shape[:3]}; those of {name} are "
            f"{classes.shape}"
        )
    if not np.issubdtype(classes.dtype, np.integer) or classes.min() < 0 or classes.max() >= MOST:
        raise DataError(f"the labels of {name} must be whole numbers from 0 to {MOST - 1}")
    many = int(classes.max()) + 1
    names = [str(each) for each in content.get("names", np.arange(many)).ravel().tolist()]
    if len(names) < many or len(set(names)) < len(names) or len(names) > MOST:
        raise DataError(
            f"{name} has labels up to {many - 1}: it must have a name of its own for each, got "
            f"{names[:8]}"
        )
    return Scenes(pixels, classes.astype(np.uint8), names)
