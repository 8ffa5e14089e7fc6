"""What pieces are drawn on: its size in the numbers that places are counted in."""

from __future__ import annotations

import numpy as np
import pytest

from regard.errors import RegardError
from regard.pieces.backdrop import Backdrop, BackdropKind


def test_sizes_are_in_the_numbers_of_places() -> None:
    assert Backdrop("image", np.zeros((5, 7, 3), np.uint8)).size == (7, 5)
    assert Backdrop("curve", np.zeros((2, 11), np.float32)).size == (11, 1)
    assert Backdrop("spectrogram", np.zeros((13, 17), np.float32)).size == (17, 1)
    assert Backdrop("list", np.array([["1", "a"], ["2", "b"], ["3", "c"]])).size == (1, 3)


@pytest.mark.parametrize(
    ("kind", "shape"),
    [("image", (5, 7)), ("curve", (11,)), ("spectrogram", (0, 3)), ("list", (7,))],
)
def test_other_axes_are_refused(kind: BackdropKind, shape: tuple[int, ...]) -> None:
    with pytest.raises(RegardError, match=rf"the axes of {kind} are .*; got \("):
        Backdrop(kind, np.zeros(shape, np.float32))
