"""``regard read``: a model reads a sentence, and shows what each word attends to."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.continuation import INSTEAD, check_going_on, go_on
from regard.cli.shared.decoding import DRAWN, decoding_options
from regard.cli.shared.input import texts_of
from regard.cli.shared.numbers import Whole
from regard.cli.shared.output import (
    check_outputs,
    check_single,
    note_unknown,
    write_json_lines,
    write_trace_page,
)
from regard.cli.shared.readers import given_options, reader_of
from regard.cli.shared.series import series_options
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
    words: int | None,
    everything: bool,
    **options: Any,
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
    given = given_options()
    reader = reader_of(model, given)
    if reader is not None:
        reader.read(model, given)
        return
    model = model or "lstmn"
    texts = texts_of(sentences, file, "read")
    layer, head, n_best = options["layer"], options["head"], options["n_best"]
    outputs = {name: options[f"{name}_to"] for name in ("json", "html", "trace")}
    if everything and (layer is not None or head is not None):
        raise RegardError("--all shows every layer and head: leave --layer and --head out")
    drawn = {name: options[name] for name in DRAWN}
    shown = {"layer": layer, "head": head, "all": everything or None}
    paged = {name: outputs[name] for name in ("html", "trace")}
    check_going_on(words, n_best, drawn, shown | paged)
    check_single(len(texts), **paged)
    check_outputs(file, **outputs)
    if words is not None:
        go_on(model, texts, words, n_best, drawn, outputs["json"])
        return
    readings = _written(model, texts, **outputs)
    if outputs["json"] is not None:
        write_json_lines((reading.summary().to_json() for reading in readings), outputs["json"])
    else:
        _print(readings, layer, head, everything)


def _written(
    model: str, texts: Sequence[str], json: str | None, html: str | None, trace: str | None
) -> Iterator[AnyReading]:
    """The readings of the texts; that of one text is written as a page or a trace, if asked."""
    from regard.inside.readings import readings_of

    longest = max((len(text.split()) for text in texts), default=0)
    if longest > LONG:
        click.echo(f"reading a text of {longest:,} words", err=True)
    traced = html is not None or trace is not None
    readings = _noted(readings_of(model, texts, traced=traced), model)
    if not traced:
        return readings
    only = next(readings)
    if html is not None:
        quietly = json == "-"
        write_trace_page(html, only.trace, texts[0], only.model, only.pieces, quietly=quietly)
    if trace is not None:
        only.trace.save(trace)
    return chain([only], readings)


def _noted(readings: Iterator[AnyReading], model: str) -> Iterator[AnyReading]:
    """The same; once all are shown, what of the sentences was not in the model's vocabulary."""
    from regard.inside.realmodel import title_of
    from regard.pieces.unknown import Unknown

    unknown = Unknown()
    for reading in readings:
        unknown.add(reading.pieces)
        yield reading
    note_unknown(unknown, title_of(model), instead=INSTEAD)


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
    from regard.models.notedattention import of_head

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
