"""Drawings: where points and cells lie, by hand; what is written in them cannot act."""

from __future__ import annotations

import math
import re
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.train.run.drawing import (
    BOTTOM,
    CELL,
    HEIGHT,
    LEFT,
    RIGHT,
    TOP,
    WIDTH,
    alignment,
    chart,
    ticks,
)


def test_round_numbers() -> None:
    assert ticks(0, 120) == [0, 20, 40, 60, 80, 100, 120]
    assert ticks(0.13, 4.4) == [0, 1, 2, 3, 4, 5]
    assert ticks(56.2, 100) == [50, 60, 70, 80, 90, 100]
    assert ticks(3, 3)[0] < 3 < ticks(3, 3)[-1] or 3 in ticks(3, 3)


@given(st.floats(-1e3, 1e3), st.floats(1e-3, 1e6))
def test_numbers_enclose_what_is_drawn(low: float, span: float) -> None:
    found = ticks(low, low + span)
    assert found[0] <= low + 1e-6 * span
    assert found[-1] >= low + span - 1e-6 * span
    assert 2 <= len(found) <= 9


def test_a_curve_goes_from_corner_to_corner() -> None:
    drawn = chart({"a": [(0, 0), (100, 5), (50, math.nan)], "none": []}, "updates", "loss")
    ElementTree.fromstring(drawn)
    (path,) = re.findall(r'class="line l0" d="([^"]*)"', drawn)
    assert path == f"M{LEFT}.0 {HEIGHT - BOTTOM}.0L{WIDTH - RIGHT}.0 {TOP}.0"
    assert "none" not in drawn
    assert chart({"a": []}, "x", "y") == ""


def test_an_alignments_cells() -> None:
    drawn = alignment(["ein", "<b>"], ["a"], [[0.25, 0.75]])
    root = ElementTree.fromstring(drawn)
    cells = [e for e in root.iter() if e.tag == "rect"]
    assert [cell.get("fill-opacity") for cell in cells] == ["0.250", "0.750"]
    assert float(cells[1].get("x", 0)) - float(cells[0].get("x", 0)) == pytest.approx(CELL)
    assert [e.text for e in root.iter("title")] == ["a → ein: 25 %", "a → <b>: 75 %"]


def test_a_single_point_is_a_dot() -> None:
    assert re.search(r'd="M[\d.]+ [\d.]+h0"', chart({"loss": [(5, 2.0)]}, "updates", "loss"))
