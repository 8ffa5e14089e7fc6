"""``read --image`` and ``read --series`` with a labeller: a label for each patch or step."""

from __future__ import annotations

import os

import click

from regard.cli.shared.output import check_outputs, say_written, write_json, write_trace_page
from regard.cli.shared.series import SeriesOptions
from regard.cli.shared.thing import read_at
from regard.errors import RegardError


def task_of(name: str) -> str:
    """What the model of a name or run folder was trained for."""
    from regard.store.folder import RunFolder
    from regard.store.shipped import find_folder

    return str(RunFolder(find_folder(name)).read_config().get("task"))


def read_labelled_image(
    name: str, file: str, at: str | None, json_to: str | None, html_to: str | None
) -> None:
    """Print the label of each patch of an image; of the one ``at`` a pixel, what it looked at."""
    check_outputs(file, json=json_to, html=html_to)
    pixel = read_at(at)
    from regard.inside.labelreading import label_image
    from regard.models.notedattention import of_head
    from regard.views.terminal.console import make_console
    from regard.views.terminal.image import print_image
    from regard.views.terminal.labels import print_label_map

    image, reading = label_image(name, file, traced=html_to is not None)
    chosen = None if pixel is None else image.at(*pixel)
    if chosen is not None and not len(reading.attention):
        raise RegardError(f"{reading.model} has no attention: leave --at out")
    if json_to is not None:
        write_json(reading.summary().to_json(), json_to)
    if json_to != "-":
        console = make_console()
        print_label_map(reading.said, image.columns, console)
        if chosen is not None:
            weights = of_head(reading.attention)[chosen]
            title = f"{reading.said[chosen]}; what it looked at, in the last layer"
            print_image(image, weights.astype("float32"), chosen, title, console)
    if html_to is not None:
        title, quiet = os.path.basename(file), json_to == "-"
        start = {} if chosen is None else {"query": chosen}
        shown = image.pieces.told(reading.said)
        write_trace_page(
            html_to, reading.trace, title, name, image.pieces, quiet, start, shown=shown
        )
    say_written(json_to, quietly=json_to == "-")


def read_labelled_series(
    name: str,
    given: SeriesOptions,
    at: str | None,
    layer: int | None,
    head: int | None,
    json_to: str | None,
    html_to: str | None,
) -> None:
    """Print the state of each of the last steps of a series, and what it looked at."""
    check_outputs(given.series, json=json_to, html=html_to)
    from regard.store.folder import RunFolder
    from regard.store.shipped import find_folder

    usual = RunFolder(find_folder(name)).read_config().get("data", {})
    series = given.read(usual, without=usual.get("state"))
    stop = None if at is None else series.clock.row(at)
    from regard.inside.labelreading import label_series
    from regard.models.notedattention import of_head
    from regard.views.terminal.console import make_console
    from regard.views.terminal.labels import print_labels

    reading = label_series(name, series, stop, traced=html_to is not None)
    attends = len(reading.attention) > 0
    if not attends and (layer is not None or head is not None):
        raise RegardError(f"{reading.model} has no attention: it has no layer or head to show")
    weights = of_head(reading.attention, layer, head) if attends else None
    if json_to is not None:
        write_json(reading.summary().to_json(), json_to)
    if json_to != "-":
        none = "" if attends else " (it has no attention)"
        click.echo(
            f"{reading.model}: the state at each of the last {len(reading.words)} steps{none}"
        )
        likely = reading.probabilities.max(-1)
        print_labels(reading.words, reading.said, likely, weights, make_console())
    if html_to is not None:
        title, quiet = f"{reading.words[0]} … {reading.words[-1]}", json_to == "-"
        shown = reading.pieces.told(reading.said)
        start = {"query": len(shown) - 1}
        write_trace_page(
            html_to, reading.trace, title, name, reading.pieces, quiet, start, shown=shown
        )
    say_written(json_to, quietly=json_to == "-")
