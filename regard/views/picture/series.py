"""A forecast and what it looked at, as PNG or SVG."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.pieces.series import Forecast
from regard.text import visible
from regard.views.picture.file import save_figure


def save_forecast(
    forecast: Forecast,
    weights: NDArray[np.float32] | None,
    title: str,
    path: str | os.PathLike[str],
    kind: str,
) -> None:
    """Draw and write; ``kind`` is ``png`` or ``svg``."""
    save_figure(lambda: draw_forecast(forecast, weights, title), path, kind, 9)


def draw_forecast(forecast: Forecast, weights: NDArray[np.float32] | None, title: str) -> Any:
    """The curve with the forecasts of model and baselines; below it, over the same steps of the
    past, the weights: a line for each part of the forecast."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9, 4 if weights is None else 5.5), layout="constrained")
    if weights is None:
        curve = figure.subplots()
    else:
        curve, below = figure.subplots(2, 1, sharex=True, height_ratios=(2, 1))
    first, stop = forecast.past.rows
    values = forecast.past.series.values[first:stop, forecast.past.channel]
    ahead = np.arange(stop, stop + len(forecast.said))
    curve.plot(np.arange(first, stop), values, color="0.2", label="what was read")
    for name, said in forecast.other.items():
        curve.plot(ahead, said, linewidth=0.8, linestyle=":", label=name)
    if len(forecast.came):
        curve.plot(ahead[: len(forecast.came)], forecast.came, color="0.6", label="what came")
    curve.plot(ahead, forecast.said, color="C3", label=forecast.model)
    curve.axvline(stop - 0.5, color="0.8", linewidth=0.8)
    curve.legend(loc="upper left", fontsize=8, framealpha=0.7)
    curve.set_title(visible(title).replace("$", r"\$"))
    if weights is not None:
        shown = below.imshow(
            weights,
            extent=(first - 0.5, stop - 0.5, len(forecast.said) + 0.5, 0.5),
            aspect="auto",
            interpolation="nearest",
            cmap="viridis",
        )
        below.set_ylabel("step of the forecast")
        figure.colorbar(shown, ax=below, label="weight")
    clock = forecast.past.series.clock
    ticks = np.linspace(first, stop + len(forecast.said) - 1, 5).round().astype(int).tolist()
    curve.set_xlim(first - 0.5, stop + len(forecast.said) - 0.5)
    curve.set_xticks(ticks, [visible(clock.name(row)).replace("$", r"\$") for row in ticks])
    return figure
