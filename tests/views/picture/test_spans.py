"""The picture of a curve or a sound: the piece that was chosen, and a bar for each weight."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.pieces.sound import spans
from regard.views.picture.spans import draw_spans, save_spans
from tests.views.terminal.test_spans import overlapping


def test_bars_are_as_wide_as_their_pieces_and_as_high_as_their_weights() -> None:
    weights = np.array([0.5, 0.3, 0.2], np.float32)
    figure = draw_spans(overlapping(), weights, 1, "b: a $title")
    above, below = figure.axes
    assert list(above.lines[0].get_ydata()) == [0, 1, 2, 3, 4, 5]
    bars = [(b.get_x(), b.get_width(), b.get_height()) for b in below.containers[0]]
    assert bars == [(0, 4, pytest.approx(0.3)), (2, 4, pytest.approx(0.2))]
    assert [text.get_text() for text in below.get_xticklabels()] == ["a", "b"]


def test_a_sound_up_to_its_end(tmp_path: Path) -> None:
    loudness = np.arange(36, dtype=np.float32).reshape(4, 9)
    weights = np.array([0.2, 0.3, 0.5], np.float32)
    figure = draw_spans(spans(loudness, 3, 0.01, until=6), weights, None, "t", 6)
    assert figure.axes[0].images[0].get_array().shape == (4, 6)
    assert len(figure.axes[1].containers[0]) == 2
    assert figure.axes[1].get_xlabel().startswith("and 50.0% to padding behind the end")
    save_spans(spans(loudness, 3, 0.01), weights, None, "t", tmp_path / "a.png", "png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
