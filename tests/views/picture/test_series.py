"""The picture of a forecast: its lines, and the weights over the steps that they are of."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.views.picture.series import draw_forecast, save_forecast
from tests.views.terminal.test_series import made


def test_lines_and_weights() -> None:
    forecast = made(10)
    figure = draw_forecast(forecast, forecast.looked(), "a $title")
    curve, below = figure.axes[:2]
    named = {line.get_label(): list(line.get_ydata()) for line in curve.lines}
    assert named["what was read"] == list(range(8))
    assert named["transformer"] == [8, 9, 10, 14]
    assert named["last"] == [7] * 4
    assert named["what came"] == [8, 9]
    image = below.images[0]
    assert image.get_extent() == [-0.5, 7.5, 4.5, 0.5]
    assert image.get_array()[0, 3] == pytest.approx(0.8)


def test_written_with_and_without_weights(tmp_path: Path) -> None:
    save_forecast(made(8), made(8).looked(), "t", tmp_path / "a.png", "png")
    save_forecast(made(8), None, "t", tmp_path / "b.svg", "svg")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    assert "what was read" in (tmp_path / "b.svg").read_text()
