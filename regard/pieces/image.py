"""An image as pieces: the patches that a model reads, each with its box in the image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import RegardError
from regard.pieces.backdrop import Backdrop
from regard.pieces.pieces import Pieces

Box = tuple[int, int, int, int]
"""Left, top, right, bottom, in pixels of the image."""
WIDE = 3
"""Times that a line is wider than high, at least."""


@dataclass(frozen=True)
class Patches:
    """What a model reads of an image."""

    pixels: NDArray[np.uint8]
    """The image itself, (height, width, 3)."""
    rows: int
    columns: int
    pieces: Pieces
    """Special pieces first, then the patches row by row: "2,5" is that of row 2, column 5."""

    @property
    def special(self) -> int:
        """How many pieces stand for no patch."""
        return len(self.pieces) - self.rows * self.columns

    @property
    def wide(self) -> bool:
        """Whether it is a line rather than a picture: drawings stand below each other then."""
        height, width = self.pixels.shape[:2]
        return bool(width > WIDE * height)

    def at(self, x: float, y: float) -> int:
        """The piece that shows the pixel (x, y), counted from the left and from the top."""
        height, width = self.pixels.shape[:2]
        if not (0 <= x < width and 0 <= y < height):
            raise RegardError(
                f"the image has {width} x {height} pixels, counted from 0; got {x:g},{y:g}"
            )
        for i, place in enumerate(self.pieces.places):
            if place and place[0] <= x < place[2] and place[1] <= y < place[3]:
                return i
        left, top = self.pieces.places[self.special][:2]
        right, bottom = self.pieces.places[-1][2:]
        raise RegardError(
            f"the model does not see the pixel {x:g},{y:g}: its processor cuts the image to "
            f"{left},{top} … {right},{bottom}"
        )

    def grid(self, weights: NDArray[np.float32]) -> NDArray[np.float32]:
        """What holds for each piece, for the patches alone: (rows, columns)."""
        return weights[self.special :].reshape(self.rows, self.columns)


def patches(
    pixels: NDArray[np.uint8], seen: Box, grid: tuple[int, int], special: Sequence[str] = ()
) -> Patches:
    """The part ``seen`` of an image, cut into ``grid`` rows and columns."""
    rows, columns = grid
    left, top, right, bottom = seen
    across = np.linspace(left, right, columns + 1).round().astype(int).tolist()
    down = np.linspace(top, bottom, rows + 1).round().astype(int).tolist()
    cells = [(r, c) for r in range(rows) for c in range(columns)]
    boxes = [(across[c], down[r], across[c + 1], down[r + 1]) for r, c in cells]
    labels = [f"{r},{c}" for r, c in cells]
    pieces = Pieces.of_thing(special, labels, boxes, Backdrop("image", pixels), "patch")
    return Patches(pixels, rows, columns, pieces)
