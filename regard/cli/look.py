"""``regard look``: what every head of a real model does with a text."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from regard.cli.shared.looking import (
    PARTS,
    check_folders,
    estimated,
    layers_done,
    load_model,
    noted,
    read_part,
    read_text,
)
from regard.cli.shared.output import write_json
from regard.errors import RegardError
from regard.text import visible

if TYPE_CHECKING:
    from regard.inside.look import Look, LookRequest
    from regard.inside.textmodel import TextModel
    from regard.views.page import Subject

THUMBNAIL = 48
"""Cells on a side of a head's small map in a picture."""


@click.command()
@click.argument("model")
@click.argument("text", required=False)
@click.option("--file", metavar="FILE", help="Read the text from a file; - is standard input.")
@click.option("--word", metavar="W", help="What W attends to and who attends to W; the#2: second.")
@click.option("--layer", type=click.IntRange(0), metavar="L", help="One layer, from 0.")
@click.option(
    "--head", type=click.IntRange(0), metavar="H", help="With --layer: one head's weights."
)
@click.option(
    "--words", is_flag=True, help="Words for tokens: to a word the sum, from it the mean."
)
@click.option("--no-sink", is_flag=True, help="Without first and special tokens, shared out anew.")
@click.option("--part", type=click.Choice(PARTS), help="Of a model with encoder and decoder.")
@click.option("--target", metavar="TEXT", help="What the decoder reads; else what it writes.")
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Refuse longer texts.")
@click.option(
    "--top", type=click.IntRange(1), default=10, show_default=True, help="Lines of lists."
)
@click.option("--json", "json_to", metavar="FILE|-", help="Write everything as JSON.")
@click.option("--csv", "csv_to", metavar="FILE", help="Write weights as a table.")
@click.option("--html", "html_to", metavar="FILE", help="Write a page (docs/page.md).")
@click.option("--compare", metavar="TEXT", help="With --html: another text beside this one.")
@click.option("--compare-model", metavar="MODEL", help="With --html: another model beside it.")
@click.option("--png", metavar="FILE", help="Draw a picture.")
@click.option("--svg", metavar="FILE", help="Draw a picture; its text stays text.")
def look(
    model: str,
    text: str | None,
    file: str | None,
    word: str | None,
    layer: int | None,
    head: int | None,
    words: bool,
    no_sink: bool,
    part: str | None,
    target: str | None,
    max_tokens: int | None,
    top: int,
    json_to: str | None,
    csv_to: str | None,
    html_to: str | None,
    compare: str | None,
    compare_model: str | None,
    png: str | None,
    svg: str | None,
) -> None:
    """What every head of MODEL does with TEXT (- reads standard input).

    MODEL is an alias (minilm, smollm2), a folder, or a name on the hub.

    \b
    regard look minilm "The animal didn't cross the street because it was too tired"
    regard look minilm "The animal didn't cross the street" --word animal --words
    regard look smollm2 --file story.txt --layer 12 --head 3 --png head.png
    """
    if head is not None and layer is None:
        raise RegardError("--head goes with --layer: heads are counted in each layer")
    if html_to is None and (compare is not None or compare_model is not None):
        raise RegardError("--compare and --compare-model put a second side on a page: add --html")
    check_folders(json_to, csv_to, html_to, png, svg)
    content = read_text(text, file)
    from regard.inside.look import LookRequest

    if png or svg:
        from regard.views.picture.look import check_picture

        check_picture()
    loaded = load_model(model)
    thumbnails = THUMBNAIL if (png or svg) and head is None and word is None else 0
    wish = LookRequest(
        part=read_part(loaded, part, target),
        layer=layer,
        head=head,
        word=word,
        words=words,
        no_sink=no_sink,
        links=top,
        cells=thumbnails,
    )
    if html_to:
        from regard.inside.sheets import check_page

        layers = None if layer is None else [layer]
        check_page(loaded, loaded.read(content, max_tokens), layers)
    result, whole = _look(loaded, content, target, wish, max_tokens)
    _write(result, json_to, csv_to, png, svg, top)
    if html_to and whole:
        sides = [(loaded, content)]
        if compare is not None or compare_model is not None:
            other = loaded if compare_model is None else load_model(compare_model)
            sides.append((other, content if compare is None else compare))
        _write_page(html_to, sides, result, target, quietly=json_to == "-")
    if not whole:
        click.echo(
            f"regard: stopped after layer {result.done} of {result.layers}; this is what was "
            "finished",
            err=True,
        )
        click.get_current_context().exit(130)


def _look(
    model: TextModel, text: str, target: str | None, wish: LookRequest, most: int | None
) -> tuple[Look, bool]:
    """The look, and whether it was not stopped."""
    from dataclasses import replace

    from regard.inside.look import look as look_into
    from regard.train.run.stop import stopping

    tokens = model.read(text, most)
    other = None
    if wish.part in ("decoder", "cross"):
        other = model.target(tokens, target, most)
    if wish.words and not tokens.grouped:
        raise RegardError(
            f"--words needs to know where the tokens stand, and the tokenizer of {model.name} "
            "does not say; leave it out"
        )
    plain = replace(wish, word=None, layer=None, head=None)
    with noted(), stopping() as stop, layers_done("looking") as progress:
        if not model.has_both:
            estimated(lambda part: look_into(model, part, plain), tokens)
        result = look_into(model, tokens, wish, target=other, progress=progress, stop=stop)
        return result, not stop.is_set()


def _write_page(
    to: str, sides: list[tuple[TextModel, str]], result: Look, target: str | None, quietly: bool
) -> None:
    """A second pass that keeps queries, keys and values: what a page carries."""
    from regard.cli.shared.output import write_page
    from regard.inside.sheets import subject_of_text

    wish = result.wish
    start = {"view": "overview" if wish.head is None else "head", "head": wish.head or 0}
    if result.place is not None:
        start |= {"view": "head", "query": result.place.word.start}
    if len(sides) > 1:
        start["view"] = "compare"
    subjects: list[Subject] = []
    for model, text in sides:
        tokens = model.read(text)
        both = wish.part in ("decoder", "cross") and model.has_both
        subject = subject_of_text(
            model,
            tokens,
            (model.target(tokens, target) if subjects else result.queries) if both else None,
            title=" ".join(text[:200].split()),
            layers=None if wish.layer is None else [wish.layer],
            start={**start, "words": wish.words, "sinks": not wish.no_sink},
        )
        subjects.append(subject)
    write_page(to, *subjects, quietly=quietly)


def _write(
    result: Look,
    json_to: str | None,
    csv_to: str | None,
    png: str | None,
    svg: str | None,
    top: int,
) -> None:
    from regard.inside.lookfiles import look_json, write_csv
    from regard.views.terminal.console import make_console
    from regard.views.terminal.look import print_look

    if json_to:
        write_json(json.dumps(look_json(result), ensure_ascii=False, allow_nan=False), json_to)
    if csv_to:
        write_csv(result, csv_to)
    for kind, path in (("png", png), ("svg", svg)):
        if path:
            from regard.views.picture.look import save_picture

            save_picture(result, path, kind)
    if json_to != "-":
        print_look(result, make_console(), top)
    files = [f for f in (json_to, csv_to, png, svg) if f and f != "-"]
    if files:
        click.echo(f"Written: {', '.join(map(visible, files))}", err=json_to == "-")
