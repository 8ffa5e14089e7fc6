"""An image cut into patches: boxes, labels, the patch at a pixel."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import RegardError
from regard.pieces.image import patches

SIZES = st.integers(7, 90)


def blank(width: int, height: int) -> np.ndarray:
    return np.zeros((height, width, 3), np.uint8)


def test_patches_row_by_row_behind_the_special_pieces() -> None:
    made = patches(blank(30, 20), (0, 0, 30, 20), (2, 3), ["[CLS]", "[REG0]"])
    assert made.pieces.labels == ["[CLS]", "[REG0]", "0,0", "0,1", "0,2", "1,0", "1,1", "1,2"]
    assert made.pieces.places[:3] == [(), (), (0, 0, 10, 10)]
    assert made.pieces.places[-1] == (20, 10, 30, 20)
    assert made.pieces.special == [True, True] + [False] * 6
    assert made.pieces.nouns == "patches"
    assert made.special == 2
    assert made.at(12, 19) == 6
    assert made.grid(np.arange(8, dtype=np.float32)).tolist() == [[2, 3, 4], [5, 6, 7]]


@given(SIZES, SIZES, st.integers(1, 7), st.integers(1, 7), st.data())
def test_every_pixel_is_in_the_patch_that_is_found(
    width: int, height: int, rows: int, columns: int, data: st.DataObject
) -> None:
    made = patches(blank(width, height), (0, 0, width, height), (rows, columns), ["[CLS]"])
    x = data.draw(st.integers(0, width - 1))
    y = data.draw(st.integers(0, height - 1))
    left, top, right, bottom = made.pieces.places[made.at(x, y)]
    assert left <= x < right
    assert top <= y < bottom
    boxes = made.pieces.places[1:]
    assert sum((b[2] - b[0]) * (b[3] - b[1]) for b in boxes) == width * height


def test_pixels_that_are_not_there_or_not_seen() -> None:
    made = patches(blank(30, 20), (5, 0, 25, 20), (2, 2))
    with pytest.raises(RegardError, match=r"30 x 20 pixels, counted from 0; got 30,3"):
        made.at(30, 3)
    with pytest.raises(RegardError, match=r"does not see the pixel 2,3: .* to 5,0 … 25,20"):
        made.at(2, 3)
