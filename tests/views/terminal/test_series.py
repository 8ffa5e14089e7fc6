"""A forecast on a terminal: the curve's ends, the weights below it, and what it was off by."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from regard.pieces.clock import read_clock
from regard.pieces.series import Forecast, Series, spans
from regard.views.terminal.series import print_forecast


def made(steps: int) -> Forecast:
    values = np.arange(float(steps)).reshape(-1, 1)
    series = Series(read_clock([f"2020-01-{i + 1:02d}" for i in range(steps)], "t"), ["a"], values)
    past = spans(series, 0, 0, [2, 2, 2, 2])
    weights = np.array([[[[0.0, 0.1, 0.1, 0.8], [0.6, 0.2, 0.1, 0.1]]]], np.float32)
    said = np.array([8.0, 9, 10, 14])
    return Forecast("transformer", past, said, {"last": np.full(4, 7.0)}, weights, 2)


def shown(forecast: Forecast, *, width: int = 60, terminal: bool = False) -> str:
    out = io.StringIO()
    console = Console(
        file=out,
        width=width,
        force_terminal=terminal,
        color_system="truecolor" if terminal else None,
    )
    print_forecast(forecast, forecast.looked(), "a title", console)
    return out.getvalue()


def test_a_pipe_gets_curve_weights_and_strongest_pieces() -> None:
    lines = shown(made(8)).splitlines()
    assert lines[0] == "a title"
    assert all(len(line) <= 60 for line in lines)
    assert lines[1].strip().startswith("14")
    assert lines[10].strip().startswith("0")
    assert "2020-01-01" in lines[11]
    assert "2020-01-09" in lines[11]
    first, second = (next(line for line in lines if f"+{n} " in line) for n in (1, 3))
    assert first.rstrip().endswith("█ 100%")
    assert second.split()[1].startswith("▆")
    assert "  0.4500  2020-01-07 to 2020-01-08" in lines


def test_what_came_is_compared_and_drawn_in_grey() -> None:
    said = shown(made(12), terminal=True)
    assert "green: the forecast; grey: what came" in said
    assert "off here, on average: transformer 0.75, last 2.5" in said
    assert "grey" not in shown(made(12))


def test_no_weights_and_a_flat_curve() -> None:
    forecast = made(8)
    none = Forecast("lstm", forecast.past, forecast.said, {}, np.zeros((0, 1, 0, 4), np.float32), 2)
    assert "lstm has no attention: there are no weights to show" in shown(none)
    series = Series(forecast.past.series.clock, ["a"], np.ones((8, 1)))
    flat = Forecast("lstm", spans(series, 0, 0, [8]), np.ones(4), {}, none.weights, 4)
    assert "⠉" in shown(flat) or "⣀" in shown(flat)
