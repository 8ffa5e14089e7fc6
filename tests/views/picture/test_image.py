"""A picture of an image and of what a patch attends to."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from regard.pieces.image import patches
from regard.views.picture.image import draw_image, save_image

PIXELS = np.full((20, 40, 3), 100, np.uint8)
WEIGHTS = np.array([0.1, 0.2, 0.0, 0.6, 0.1], np.float32)


def test_weights_lie_over_the_part_that_is_seen() -> None:
    image = patches(PIXELS, (10, 0, 30, 20), (2, 2), ["[CLS]"])
    plain, over = draw_image(image, WEIGHTS, 3, "layer 0, head 1").axes[:2]
    shown = over.images[1]
    np.testing.assert_allclose(shown.get_array(), [[0.2, 0.0], [0.6, 0.1]])
    assert tuple(shown.get_extent()) == (10, 30, 20, 0)
    assert plain.patches[0].get_bbox().bounds == (10, 10, 10, 10)


def test_a_special_piece_has_no_frame(tmp_path: Path) -> None:
    image = patches(PIXELS, (0, 0, 40, 20), (2, 2), ["[CLS]"])
    assert not draw_image(image, WEIGHTS, 0, "x").axes[0].patches
    save_image(image, WEIGHTS, 0, "costs $5", tmp_path / "a.svg", "svg")
    assert "[CLS]: costs $5" in (tmp_path / "a.svg").read_text()
