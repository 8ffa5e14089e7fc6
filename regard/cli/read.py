"""``regard read``: a model reads a sentence, and shows what each word attends to."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.continuation import INSTEAD, check_going_on, go_on
from regard.cli.shared.decoding import decoding_options
from regard.cli.shared.episode import EpisodeOptions, read_act
from regard.cli.shared.history import read_user
from regard.cli.shared.image import read_image
from regard.cli.shared.input import texts_of
from regard.cli.shared.labels import read_labelled_image, read_labelled_series, task_of
from regard.cli.shared.numbers import Whole
from regard.cli.shared.output import (
    check_outputs,
    check_single,
    note_unknown,
    write_json_lines,
    write_trace_page,
)
from regard.cli.shared.series import SeriesOptions, series_options
from regard.cli.shared.sound import read_sound
from regard.errors import RegardError

if TYPE_CHECKING:
    from rich.console import Console

    from regard.models.reading import LabelReading, SentenceReading, Verdict
    from regard.trace import Array

    AnyReading = SentenceReading | Verdict | LabelReading

LONG = 500
"""Words of a text from which on its reading takes so long that it is said."""


@click.command()
@click.argument("sentences", nargs=-1)
@click.option(
    "--model",
    metavar="NAME|FOLDER",
    help="One that comes with regard, or a run folder; else lstmn, fashion or forecaster.",
)
@click.option("--file", metavar="FILE", help="Read its lines; - is standard input.")
@click.option("--image", metavar="FILE", help="Read an image, with a model of images.")
@series_options
@click.option("--at", metavar="TIME", help="With --series: from this time on; a patch X,Y; a step.")
@click.option("--user", metavar="USER", help="With a recommender: what it recommends, and why.")
@click.option("--history", metavar="FILE", help="Of this table, not of the one it was trained on.")
@click.option("--sound", metavar="FILE", help="Read a wav file, with a model of sounds.")
@click.option("--episode", metavar="N", help="With an actor: an episode, up to the step --at.")
@click.option("--episodes", metavar="FILE", help="Of this file, not of the one it was trained on.")
@click.option("--layer", type=Whole(0), help="This layer's attention, from 0; else the last one's.")
@click.option("--head", type=Whole(0), help="Transformer: this head's, from 0; else their mean.")
@click.option("--all", "everything", is_flag=True, help="Every layer and head, one by one.")
@click.option(
    "--continue",
    "words",
    type=Whole(1),
    help="Instead: go on with the text, by at most N words ('regard docs language').",
)
@decoding_options
@click.option("--json", "json_to", metavar="FILE|-", help="One trace a sentence, as JSON.")
@click.option(
    "--html", "html_to", metavar="FILE", help="A page of one sentence ('regard docs page')."
)
@click.option("--trace", "trace_to", metavar="FILE", help="Every step of one sentence, as JSON.")
@click.option("--csv", "csv_to", metavar="FILE", help="With --series: the forecast as a table.")
@click.option("--png", metavar="FILE", help="With --series: the forecast as a picture.")
def read(
    sentences: tuple[str, ...],
    model: str | None,
    file: str | None,
    image: str | None,
    at: str | None,
    user: str | None,
    history: str | None,
    sound: str | None,
    episode: str | None,
    episodes: str | None,
    layer: int | None,
    head: int | None,
    everything: bool,
    json_to: str | None,
    html_to: str | None,
    trace_to: str | None,
    csv_to: str | None,
    png: str | None,
    words: int | None,
    n_best: int,
    series: str | None,
    channel: str | None,
    time: str | None,
    decimal: str | None,
    gaps: str | None,
    **drawn: Any,
) -> None:
    """Read SENTENCES, word by word, and show what each new word attends to.

    \b
    regard read "The FBI is chasing a criminal on the run ."
    regard read --model simple-rnn+attention "Tom said that he was tired."
    regard read --model runs/reviews "a gripping film"
    regard read --continue 8 "Tom said that" --sample --n-best 3
    regard read --image boot.png
    regard read --model runs/load --series load.csv --png forecast.png
    regard read --model runs/items --user 7
    regard read --model runs/spoken --sound seven.wav
    regard read --model runs/act --episode 7 --at 12

    Each line is one more word: the bits that it was unexpected by, and the words read so far with
    the attention that the new word gives them, in hundredths. A classifier shows its label and the
    words that it decided by, a labeller the label of each word, a forecaster how a series goes on
    and what of it it looked at.
    """
    table = SeriesOptions(series, channel, time, decimal, gaps)
    table.check()
    if series is not None:
        from regard.cli.shared.forecast import ForecastOptions, read_forecast

        if sentences or any((file, image, sound, user, history, everything, trace_to, words)):
            raise RegardError(
                "--series is read alone: of the other options it takes --model, --at, --layer, "
                "--head, --json, --csv, --png, --html"
            )
        if model is not None and task_of(model) == "label-series":
            if csv_to or png:
                raise RegardError("--csv and --png are of a forecast, and this is a labeller")
            read_labelled_series(model, table, at, layer, head, json_to, html_to)
            return
        asked = ForecastOptions(at, layer, head, json_to, html_to, csv_to, png)
        read_forecast(model or "forecaster", table, asked)
        return
    for name, value in {"csv": csv_to, "png": png}.items():
        if value is not None:
            raise RegardError(f"--{name} is of a forecast: it goes with --series")
    unlike = (file, everything or None, trace_to, words, *sentences)
    if image is not None and model is not None and task_of(model) == "label-images":
        _check_alone("image", "--at, --json, --html", *unlike, sound, user, history, layer, head)
        read_labelled_image(model, image, at, json_to, html_to)
        return
    if episode is not None:
        takes = "--episodes, --at, --layer, --head, --json, --html"
        _check_alone("episode", takes, *unlike, image, sound, user, history)
        if model is None:
            raise RegardError("no actor comes with regard: --episode needs --model RUN")
        read_act(model, EpisodeOptions(episode, episodes, at, layer, head, json_to, html_to))
        return
    if episodes is not None:
        raise RegardError("--episodes goes with --episode, which says which of them is read")
    if at is not None:
        raise RegardError("--at goes with --series, --episode, or with --image and a labeller")
    if sound is not None:
        _check_alone("sound", "--json, --html", *unlike, image, user, history, layer, head)
        read_sound(model, sound, json_to, html_to)
        return
    if image is not None:
        _check_alone("image", "--json, --html", *unlike, user, history, layer, head)
        read_image(model or "fashion", image, json_to, html_to)
        return
    if user is not None:
        _check_alone("user", "--history, --layer, --head, --json, --html", *unlike)
        if model is None:
            raise RegardError("no recommender comes with regard: --user needs --model RUN")
        read_user(model, user, history, layer, head, json_to, html_to)
        return
    if history is not None:
        raise RegardError("--history goes with --user, whose history is read")
    model = model or "lstmn"
    texts = texts_of(sentences, file, "read")
    if everything and (layer is not None or head is not None):
        raise RegardError("--all shows every layer and head: leave --layer and --head out")
    shown = {"layer": layer, "head": head, "all": everything or None}
    check_going_on(words, n_best, drawn, shown | {"html": html_to, "trace": trace_to})
    check_single(len(texts), trace=trace_to, html=html_to)
    check_outputs(file, json=json_to, html=html_to, trace=trace_to)
    if words is not None:
        go_on(model, texts, words, n_best, drawn, json_to)
        return
    from regard.inside.readings import readings_of

    traced = html_to is not None or trace_to is not None
    longest = max((len(text.split()) for text in texts), default=0)
    if longest > LONG:
        click.echo(f"reading a text of {longest:,} words", err=True)
    readings = _noted(readings_of(model, texts, traced=traced))
    if traced:
        only = next(readings)
        if html_to is not None:
            write_trace_page(
                html_to,
                only.trace,
                texts[0],
                only.model,
                only.pieces,
                quietly=json_to == "-",
            )
        if trace_to is not None:
            only.trace.save(trace_to)
        readings = chain([only], readings)
    if json_to is not None:
        write_json_lines((reading.summary().to_json() for reading in readings), json_to)
    else:
        _print(readings, layer, head, everything)


def _check_alone(name: str, takes: str, *others: object) -> None:
    """Raise if a thing that is no sentence is read with options that it does not take."""
    if any(option is not None for option in others):
        raise RegardError(f"--{name} is read alone: of the other options it takes --model, {takes}")


def _noted(readings: Iterator[AnyReading]) -> Iterator[AnyReading]:
    """The same; once all are shown, what of the sentences was not in the model's vocabulary."""
    from regard.pieces.unknown import Unknown

    unknown, model = Unknown(), ""
    for reading in readings:
        unknown.add(reading.pieces)
        model = reading.model
        yield reading
    note_unknown(unknown, model, instead=INSTEAD)


def _print(
    readings: Iterator[AnyReading],
    layer: int | None,
    head: int | None,
    everything: bool,
) -> None:
    from regard.models.reading import SentenceReading, Verdict
    from regard.views.terminal.console import make_console
    from regard.views.terminal.labels import print_labels
    from regard.views.terminal.reading import print_reading

    console = make_console()
    for number, reading in enumerate(readings):
        if number:
            click.echo()
        if isinstance(reading, Verdict):
            _print_verdict(reading, console)
            continue
        own = isinstance(reading, SentenceReading)
        without = "how unexpected each word was" if own else "the label of each word"
        for weights in _titled(reading, layer, head, everything, without):
            if isinstance(reading, SentenceReading):
                print_reading(reading.words, reading.surprisal, weights, console)
            else:
                likely = reading.probabilities.max(-1)
                print_labels(reading.words, reading.said, likely, weights, console)
            if everything:
                click.echo()
        if isinstance(reading, SentenceReading):
            said = f"{reading.end:5.1f}  end of sentence; perplexity {reading.perplexity:.1f}"
            click.echo(f"{said} per word")


def _titled(
    reading: SentenceReading | LabelReading,
    layer: int | None,
    head: int | None,
    everything: bool,
    without: str,
) -> Iterator[Array | None]:
    """The weights to show, one after the other, each below its title; None ``without`` any."""
    from regard.models.reading import of_head

    layers, heads = reading.attention.shape[:2]
    if not layers:
        if layer is not None or head is not None or everything:
            raise RegardError(f"{reading.model} has no attention: it has no layer or head to show")
        click.echo(f"{reading.model} has no attention: {without}")
        yield None
    elif everything:
        for k in range(layers):
            for h in range(heads):
                click.echo(_title(reading, k, h if heads > 1 else None))
                yield of_head(reading.attention, k, h)
    else:
        weights = of_head(reading.attention, layer, head)
        click.echo(_title(reading, layers - 1 if layer is None else layer, head))
        yield weights


def _title(reading: SentenceReading | LabelReading, layer: int, head: int | None) -> str:
    layers, heads = reading.attention.shape[:2]
    where = [f"layer {layer}"] if layers > 1 else []
    if heads > 1:
        where.append(f"mean of {heads} heads" if head is None else f"head {head}")
    place = f" ({', '.join(where)})" if where else ""
    return f"{reading.model}: what each word attends to, in hundredths{place}"


def _print_verdict(verdict: Verdict, console: Console) -> None:
    from regard.text import visible
    from regard.views.terminal.reading import print_weighted

    ranked = sorted(zip(verdict.probabilities, verdict.labels, strict=True), reverse=True)
    click.echo("  ".join(f"{visible(label)} {100 * p:.1f} %" for p, label in ranked[:8]))
    print_weighted(verdict.words, verdict.weights, console)
