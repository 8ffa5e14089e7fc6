"""``regard look``: what every head of a real model does with a text."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.input import read_text
from regard.cli.shared.model import PARTS, exit_stopped, load_any, load_measured, look_at
from regard.cli.shared.numbers import Whole
from regard.cli.shared.output import check_outputs, say_written, write_json, write_page
from regard.cli.shared.thing import ThingOptions, thing_options
from regard.errors import RegardError
from regard.pieces.measures import MEASURES

if TYPE_CHECKING:
    from regard.inside.textmodel import TextModel
    from regard.pieces.look import Look, LookRequest

THUMBNAIL = 48
"""Cells on a side of a head's small map in a picture."""


@dataclass(frozen=True)
class LookOptions:
    """The command's options, as click names them."""

    word: str | None
    layer: int | None
    head: int | None
    words: bool
    no_sink: bool
    part: str | None
    target: str | None
    max_tokens: int | None
    top: int
    json_to: str | None
    csv_to: str | None
    html_to: str | None
    compare: str | None
    compare_model: str | None
    png: str | None
    svg: str | None
    measures: tuple[str, ...]
    thing: ThingOptions

    @property
    def measure(self) -> str | None:
        """The one that is looked at, and that a page opens with."""
        return self.measures[0] if self.measures else None

    @property
    def pictures(self) -> dict[str, str]:
        return {kind: to for kind, to in (("png", self.png), ("svg", self.svg)) if to}

    @property
    def compares(self) -> bool:
        return self.compare is not None or self.compare_model is not None

    def check(self, file: str | None) -> None:
        """What is wrong with the options alone is said before a model is loaded."""
        if self.head is not None and self.layer is None:
            raise RegardError("--head goes with --layer: heads are counted in each layer")
        if self.html_to is None and self.compares:
            raise RegardError(
                "--compare and --compare-model put a second side on a page: add --html"
            )
        if len(self.measures) > 1 and self.html_to is None:
            raise RegardError(
                f"one --measure is looked at, and a page shows several: add --html, or leave out "
                f"{' and '.join(self.measures[1:])}"
            )
        if self.measure is not None and self.part == "cross":
            raise RegardError("--measure is of self-attention: leave out --part cross")
        self._check_thing()
        check_outputs(
            *(file, self.thing.image, self.thing.sound, self.thing.table.series),
            **{"json": self.json_to, "csv": self.csv_to, "html": self.html_to},
            **self.pictures,
        )

    def _check_thing(self) -> None:
        self.thing.check()
        of_texts = {
            "--word": self.word,
            "--words": self.words or None,
            "--part": self.part,
            "--target": self.target,
            "--max-tokens": self.max_tokens,
            "--compare": self.compare,
            "--compare-model": self.compare_model,
        }
        kind = self.thing.kind
        written = ("--word", "--part", "--target") if kind == "sound" else ()
        for name, value in of_texts.items():
            if kind and value is not None and name not in written:
                raise RegardError(f"{name} is for texts, and --{kind} gives none")
        if kind and self.word is not None and self.part != "cross":
            raise RegardError("--word is one that a model writes of a sound: add --part cross")
        if kind == "series" and self.measure is not None:
            raise RegardError("--measure is of texts, images and sounds: leave it out")

    def request(self, part: str) -> LookRequest:
        from regard.pieces.look import LookRequest

        of_all = bool(self.pictures) and self.head is None and self.word is None
        return LookRequest(
            part=part,
            layer=self.layer,
            head=self.head,
            word=self.word,
            words=self.words,
            no_sink=self.no_sink,
            links=self.top,
            cells=THUMBNAIL if of_all else 0,
            page=self.html_to is not None,
            measure=self.measure or "",
            more=self.measures[1:],
            goal=self.target if "gradient" in self.measures else None,
        )


@click.command()
@click.argument("model")
@click.argument("text", required=False)
@click.option("--file", metavar="FILE", help="Read the text from a file; - is standard input.")
@click.option("--word", metavar="W", help="What W attends to and who attends to W; the#2: second.")
@click.option("--layer", type=Whole(0), metavar="L", help="One layer, from 0.")
@click.option("--head", type=Whole(0), metavar="H", help="With --layer: one head's weights.")
@click.option(
    "--words", is_flag=True, help="Words for tokens: to a word the sum, from it the mean."
)
@click.option("--no-sink", is_flag=True, help="Without first and special tokens, shared out anew.")
@click.option("--part", type=click.Choice(PARTS), help="Of a model with encoder and decoder.")
@click.option("--target", metavar="TEXT", help="What the decoder reads; of a gradient, the word.")
@click.option(
    "--measure",
    "measures",
    type=click.Choice(list(MEASURES)),
    multiple=True,
    help="Derived from the weights, in their place; with --html several.",
)
@click.option("--max-tokens", type=Whole(1), metavar="N", help="Refuse longer texts.")
@click.option("--top", type=Whole(1), default=10, show_default=True, help="Lines of lists.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write everything as JSON.")
@click.option("--csv", "csv_to", metavar="FILE", help="Write weights as a table.")
@click.option("--html", "html_to", metavar="FILE", help="Write a page ('regard docs page').")
@click.option("--compare", metavar="TEXT", help="With --html: another text beside this one.")
@click.option("--compare-model", metavar="MODEL", help="With --html: another model beside it.")
@click.option("--png", metavar="FILE", help="Draw a picture.")
@click.option("--svg", metavar="FILE", help="Draw a picture; its text stays text.")
@thing_options
def look(model: str, text: str | None, file: str | None, **given: Any) -> None:
    """What every head of MODEL does with TEXT (- reads standard input).

    MODEL is an alias (minilm, smollm2; ocr for images), a folder (also of 'regard train'), or a
    name on the hub.

    \b
    regard look minilm "The animal didn't cross the street because it was too tired"
    regard look minilm "The animal didn't cross the street" --word animal --words
    regard look smollm2 --file story.txt --layer 12 --head 3 --png head.png
    regard look ./vit --image cat.png --at 120,80 --png cat-looks.png
    regard look ocr --image line.png
    regard look ./whisper --sound seven.wav --at 0.35
    regard look ./patchtst --series load.csv --channel load
    """
    options = LookOptions(thing=ThingOptions.taken(given), **given)
    options.check(file)
    if options.thing.kind:
        if text is not None or file is not None:
            raise RegardError(f"look takes a text or --{options.thing.kind} FILE; got both")
        look_at_thing(model, options)
        return
    content = read_text(text, file)
    if options.pictures:
        from regard.views.picture.file import check_picture

        check_picture()
    loaded, part = load_measured(model, options.part, options.target, options.measures)
    request = options.request(part)
    found, stopped = look_at(loaded, content, request, options.target, options.max_tokens)
    _write(found, options)
    if options.html_to is not None and not stopped:
        _write_page(options.html_to, found, loaded, content, options)
    if stopped:
        exit_stopped(found)


def look_at_thing(name: str, options: LookOptions) -> None:
    """What a model does with an image, a sound or a series."""
    if options.pictures:
        from regard.views.picture.file import check_picture

        check_picture()
    from regard.cli.shared.thing import DecoderOptions, look_at, read_thing, title_of
    from regard.views.terminal.console import make_console

    written = DecoderOptions(options.part, options.target, options.word)
    thing = read_thing(name, options.thing, written)
    found, stopped = look_at(thing, options.request(thing.part))
    asked = options.thing.asked or options.word is not None
    drawn = found.place is not None
    if drawn:
        weights, title = title_of(found)
        for kind, path in options.pictures.items():
            thing.save(weights, title, path, kind)
        if options.json_to != "-":
            thing.show(weights, title, make_console())
    _write(found if asked else replace(found, place=None), options, pictures=not drawn)
    if options.html_to is not None and not stopped:
        from regard.inside.look.page import open_at

        assert found.page is not None
        found.page.notes += thing.notes
        write_page(options.html_to, open_at(found.page, found, thing.file), quietly=False)
    if stopped:
        exit_stopped(found)


def _write(found: Look, options: LookOptions, *, pictures: bool = True) -> None:
    from regard.inside.look.files import look_json, write_csv
    from regard.views.terminal.console import make_console
    from regard.views.terminal.look import print_look

    if options.json_to:
        content = json.dumps(look_json(found), ensure_ascii=False, allow_nan=False)
        write_json(content, options.json_to)
    if options.csv_to:
        write_csv(found, options.csv_to)
    for kind, path in options.pictures.items() if pictures else ():
        from regard.views.picture.look import save_picture

        save_picture(found, path, kind)
    if options.json_to != "-":
        print_look(found, make_console(), options.top)
    files = (options.json_to, options.csv_to, options.png, options.svg)
    say_written(*files, quietly=options.json_to == "-")


def _write_page(to: str, found: Look, model: TextModel, text: str, options: LookOptions) -> None:
    """The look itself, and beside it the other text or model, if there is one."""
    from regard.inside.look.measured import PageMeasures
    from regard.inside.look.page import open_at, subject_of_text

    assert found.page is not None
    subjects = [open_at(found.page, found, text, compared=options.compares)]
    if options.compares:
        text = text if options.compare is None else options.compare
        if options.compare_model is not None:
            model = load_any(options.compare_model, predicts="gradient" in options.measures)
        tokens = model.read(text)
        both = found.request.part in ("decoder", "cross") and model.has_both
        target = model.target(tokens, options.target) if both else None
        request = found.request
        measures = PageMeasures(model, tokens, target, request.measures, request.goal)
        other = subject_of_text(model, tokens, target, request.layers, measures)
        subjects.append(open_at(other, found, text, compared=True))
    write_page(to, *subjects, quietly=options.json_to == "-")
