"""``read --series``: a forecast drawn, and written as a table, a picture or a page."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from regard.cli.shared.output import (
    check_outputs,
    say_written,
    write_json_lines,
    write_trace_page,
)
from regard.cli.shared.series import SeriesOptions
from regard.files import write_text
from regard.text import number_of

if TYPE_CHECKING:
    from regard.inside.seriesreading import SeriesReader
    from regard.pieces.series import Forecast, Series


@dataclass(frozen=True)
class ForecastOptions:
    """What to show of a forecast, as ``read`` names it."""

    at: str | None
    layer: int | None
    head: int | None
    json_to: str | None
    html_to: str | None
    csv_to: str | None
    png: str | None


def read_forecast(name: str, given: SeriesOptions, options: ForecastOptions) -> None:
    """Forecast how a series goes on, and show what the forecast looked at."""
    files = {"json": options.json_to, "html": options.html_to, "csv": options.csv_to}
    check_outputs(given.series, **files, png=options.png)
    if options.png is not None:
        from regard.views.picture.file import check_picture

        check_picture()
    from regard.store.folder import RunFolder
    from regard.store.shipped import find_folder

    usual = RunFolder(find_folder(name, "forecast")).read_config().get("data", {})
    series = given.read(usual)
    stop = None if options.at is None else series.clock.row(options.at)
    from regard.inside.seriesreading import SeriesReader

    reader = SeriesReader.load(name)
    forecast, trace = reader.read(series, 0, stop, traced=options.html_to is not None)
    weights = forecast.looked(options.layer, options.head)
    title = f"{series.channels[0]}: {_where(forecast, options)}"
    if options.csv_to is not None:
        write_text(options.csv_to, _as_csv(forecast, reader, series, stop))
    if options.png is not None:
        from regard.views.picture.series import save_forecast

        save_forecast(forecast, weights, title, options.png, "png")
    if options.html_to is not None:
        quiet = options.json_to == "-"
        start = {"query": len(forecast.past.pieces)}  # the first piece of the forecast
        write_trace_page(options.html_to, trace, title, name, forecast.whole, quiet, start)
    if options.json_to is not None:
        write_json_lines([_as_json(name, forecast)], options.json_to)
    if options.json_to != "-":
        from regard.views.terminal.console import make_console
        from regard.views.terminal.series import print_forecast

        print_forecast(forecast, weights, title, make_console())
    say_written(options.csv_to, options.png, options.json_to, quietly=options.json_to == "-")


def _where(forecast: Forecast, options: ForecastOptions) -> str:
    """Which forecast it is, and which weights are shown of it."""
    layers, heads = forecast.weights.shape[:2]
    said = f"{number_of(len(forecast.said), 'step')} from {forecast.times[0]} by {forecast.model}"
    if not layers:
        return said
    layer = layers - 1 if options.layer is None else options.layer
    where = [f"layer {layer}"] if layers > 1 else []
    if heads > 1:
        where.append(f"mean of {heads} heads" if options.head is None else f"head {options.head}")
    return f"{said} ({', '.join(where)})" if where else said


def _as_csv(forecast: Forecast, reader: SeriesReader, series: Series, stop: int | None) -> str:
    """A row a step with all channels, in the columns of the table that was read."""
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(["time", *series.channels])
    for time, row in zip(forecast.times, reader.all_channels(series, stop), strict=True):
        writer.writerow([time, *(f"{value:.6g}" for value in row)])
    return table.getvalue()


def _as_json(name: str, forecast: Forecast) -> str:
    first, stop = forecast.past.rows
    clock = forecast.past.series.clock
    content = {
        "model": name,
        "channel": forecast.past.series.channels[forecast.past.channel],
        "read": [clock.name(first), clock.name(stop - 1)],
        "times": forecast.times,
        "forecast": forecast.said.tolist(),
        "baselines": {name: values.tolist() for name, values in forecast.other.items()},
        "came": forecast.came.tolist(),
        "pieces": [list(place) for place in forecast.past.pieces.places],
        "weights": forecast.weights.tolist(),
    }
    return json.dumps(content, ensure_ascii=False, allow_nan=False)
