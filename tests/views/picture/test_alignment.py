"""The picture of an alignment: a cell for each weight, a ring for what was copied."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.errors import RegardError
from regard.views.picture.alignment import MOST, draw_alignment, save_alignment

SOURCE, TARGET = ["das", "ist", "$gut"], ["is", "good"]
WEIGHTS = np.array([[0.9, 0.1, 0.0], [0.0, 0.25, 0.75]])


def test_cells_are_the_weights() -> None:
    (axes,) = draw_alignment(SOURCE, TARGET, WEIGHTS, None).axes
    np.testing.assert_array_equal(axes.images[0].get_array(), WEIGHTS)
    assert [text.get_text() for text in axes.get_xticklabels()] == ["das", "ist", r"\$gut"]
    assert [text.get_text() for text in axes.get_yticklabels()] == TARGET
    assert not axes.collections


def test_rings_and_bars_are_what_was_copied() -> None:
    copies = np.array([[0.5, 0.01, 0.0], [0.0, 0.0, 0.25]])
    axes, beside = draw_alignment(SOURCE, TARGET, WEIGHTS, copies).axes
    rings = [
        (*ring.get_offsets()[0].tolist(), float(ring.get_sizes()[0])) for ring in axes.collections
    ]
    assert rings == [(0, 0, 55.0), (2, 1, 27.5)]
    widths = [bar.get_width() for bar in beside.containers[0]]
    assert widths == [pytest.approx(0.51), pytest.approx(0.25)]


def test_files(tmp_path: Path) -> None:
    save_alignment(SOURCE, TARGET, WEIGHTS, None, tmp_path / "a.png", "png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    save_alignment(SOURCE, TARGET, WEIGHTS, WEIGHTS / 2, tmp_path / "a.svg", "svg")
    assert "copied" in (tmp_path / "a.svg").read_text()


def test_what_cannot_be_drawn_is_said(tmp_path: Path) -> None:
    with pytest.raises(RegardError, match="nothing to draw: no word that looked at another one"):
        save_alignment(SOURCE, TARGET, 0 * WEIGHTS, None, tmp_path / "a.png", "png")
    long = ["a"] * (MOST + 1)
    with pytest.raises(RegardError, match="up to 120 words a side, got 121 and 2: --html"):
        save_alignment(long, TARGET, np.ones((2, MOST + 1)), None, tmp_path / "a.png", "png")
    assert not list(tmp_path.iterdir())
