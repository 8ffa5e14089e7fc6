"""Pictures of a look: all heads, one head, a word."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.views.picture.look import draw, save_picture
from tests.pieces.looks import WEIGHTS, made_up


def words(tmp_path: Path, **request: Any) -> list[str]:
    save_picture(made_up(**request), tmp_path / "look.svg", "svg")
    return re.findall(r"<text [^>]*>([^<]*)</text>", (tmp_path / "look.svg").read_text())


def test_all_heads_are_small_maps_under_their_signs(tmp_path: Path) -> None:
    shown = words(tmp_path, cells=48)
    assert {"head", "layer", "P", "F", "L", "B"} <= set(shown)
    (image,) = draw(made_up(cells=48)).axes[0].images
    cells = np.ma.filled(image.get_array(), np.nan)
    tall, wide = WEIGHTS.shape
    np.testing.assert_array_equal(cells[2 : 2 + tall, :wide], WEIGHTS)


def test_one_head_has_its_tokens_and_weights(tmp_path: Path) -> None:
    shown = words(tmp_path, layer=1, head=2)
    assert "made-up, layer 1, head 2 (previous token)" in shown
    assert shown.count("##real") == 2
    figure = draw(made_up(layer=1, head=2))
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), WEIGHTS)


def test_a_word_has_bars_on_both_sides(tmp_path: Path) -> None:
    shown = words(tmp_path, word="it")
    assert "'it' attends to" in shown
    assert "'it' is attended to by" in shown
    bars = draw(made_up(word="it")).axes[0].patches
    mean = np.stack([WEIGHTS[1], WEIGHTS[2], WEIGHTS[1]]).mean(0)
    assert [bar.get_width() for bar in bars] == pytest.approx(sorted(mean, reverse=True))


def test_what_no_sink_does_is_said(tmp_path: Path) -> None:
    assert any("renormalised" in line for line in words(tmp_path, word="it", no_sink=True))
