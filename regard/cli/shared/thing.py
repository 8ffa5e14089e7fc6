"""``look --image``, ``--sound``, ``--series``: a thing that is no text, read and drawn."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any, TypeVar

import click

from regard.cli.shared.numbers import Whole
from regard.cli.shared.series import SeriesOptions, series_options
from regard.errors import RegardError
from regard.text import number_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray
    from rich.console import Console

    from regard.inside.imagemodel import ImageModel
    from regard.inside.ocrmodel import OcrModel
    from regard.inside.realmodel import RealModel
    from regard.pieces.image import Patches
    from regard.pieces.look import Look, LookRequest
    from regard.pieces.pieces import Pieces

    Weights = NDArray[np.float32]

Function = TypeVar("Function", bound=Callable[..., Any])


def thing_options(function: Function) -> Function:
    """Give a command the options that say what is read in place of a text."""
    function = click.option(
        "--piece", type=Whole(0), metavar="N", help="Of an image, a sound or a series: from 0."
    )(function)
    function = click.option(
        "--at", metavar="PLACE", help="The piece at a pixel X,Y, at a second or at a time."
    )(function)
    function = series_options(function)
    function = click.option(
        "--sound", metavar="FILE", help="A wav file in place of a text: a model of sounds."
    )(function)
    return click.option(
        "--image", metavar="FILE", help="An image in place of a text: a model of vision."
    )(function)


@dataclass(frozen=True)
class ThingOptions:
    """What is read in place of a text, and which piece of it is looked at."""

    image: str | None
    sound: str | None
    table: SeriesOptions
    at: str | None
    piece: int | None

    @classmethod
    def taken(cls, given: dict[str, Any]) -> ThingOptions:
        """Of the options of a command, which are then without them."""
        table = SeriesOptions(**{f.name: given.pop(f.name) for f in fields(SeriesOptions)})
        names = ("image", "sound", "at", "piece")
        return cls(table=table, **{name: given.pop(name) for name in names})

    @property
    def kind(self) -> str:
        """image, sound or series; empty if it is a text."""
        given = {"image": self.image, "sound": self.sound, "series": self.table.series}
        named = [name for name, file in given.items() if file is not None]
        if len(named) > 1:
            raise RegardError(f"one thing is read: give --{named[0]} or --{named[1]}")
        return named[0] if named else ""

    @property
    def asked(self) -> bool:
        """Whether a piece was named."""
        return self.at is not None or self.piece is not None

    def check(self) -> None:
        """Raise for options that do not go together."""
        self.table.check()
        if self.kind and None not in (self.at, self.piece):
            raise RegardError("--at and --piece both name a piece: give one of them")
        if not self.kind and self.asked:
            name = "--at" if self.at is not None else "--piece"
            raise RegardError(
                f"{name} is a place in an image, a sound or a series: it goes with --image, "
                "--sound or --series"
            )


@dataclass(frozen=True)
class DecoderOptions:
    """What is asked about the text that a model writes of a sound."""

    part: str | None
    target: str | None
    word: str | None


@dataclass(frozen=True)
class Thing:
    """A thing as a model reads it, and the piece that is looked at."""

    model: RealModel
    file: str
    pieces: Pieces
    chosen: str | None = None
    """Its label; None if nothing of the thing is drawn."""
    image: Patches | None = None
    until: int | None = None
    """The step at which a sound ends; what a model reads may be longer."""
    part: str = ""
    target: Pieces | None = None
    """What a decoder reads, if it is looked at."""
    said: list[str] = field(default_factory=list)
    """What the model makes of it, in sentences."""

    @property
    def notes(self) -> list[str]:
        """What a page says beside it."""
        filled = sum(self.pieces.padding)
        if not filled:
            return self.said
        they = "is padding (pad): it stands" if filled == 1 else "are padding (pad): they stand"
        many = f"{filled:,} of the {len(self.pieces):,} pieces"
        return [*self.said, f"{many} {they} behind the end of the sound"]

    @property
    def place(self) -> int | None:
        """Where the chosen piece stands among those of the thing; None if it is a written word."""
        if self.chosen is None or self.part == "cross":
            return None
        return self.pieces.labels.index(self.chosen)

    def show(self, weights: Weights, title: str, console: Console) -> None:
        """Draw it on a terminal, with what the chosen piece gives to each."""
        from regard.text import visible
        from regard.views.terminal.image import print_image
        from regard.views.terminal.spans import print_spans

        for line in self.said:
            console.print(visible(line), markup=False, highlight=False)
        if self.image is not None:
            print_image(self.image, weights, self.place, title, console)
        else:
            named = f"{self.chosen}: {title}"
            print_spans(self.pieces, weights, self.place, named, console, self.until)

    def save(self, weights: Weights, title: str, path: str, kind: str) -> None:
        """The same as a picture."""
        from regard.views.picture.image import save_image
        from regard.views.picture.spans import save_spans

        if self.image is not None:
            assert self.place is not None
            save_image(self.image, weights, self.place, title, path, kind)
        else:
            named = f"{self.chosen}: {title}"
            save_spans(self.pieces, weights, self.place, named, path, kind, self.until)


def read_thing(name: str, asked: ThingOptions, written: DecoderOptions) -> Thing:
    """The thing that the options name, read by the model ``name``."""
    from regard.cli.shared.model import noted
    from regard.store.shipped import is_own

    if is_own(name):
        raise RegardError(
            f"{name!r} is a model that regard trained, and 'regard look' reads images, sounds and "
            f"series by other ones: 'regard read --model {name}' reads what it takes"
        )
    with noted():
        if asked.image is not None:
            return _read_image(name, asked.image, asked)
        if asked.sound is not None:
            return _read_sound(name, asked.sound, asked, written)
        return _read_series(name, asked)


def _read_image(name: str, file: str, asked: ThingOptions) -> Thing:
    at = read_at(asked.at)
    from regard.inside.find import find

    files = find(name)
    model: ImageModel | OcrModel
    if files.onnx is not None:
        from regard.inside.ocrmodel import load_ocr

        model = load_ocr(files)
        image = model.read(file)
        said = model.said
    else:
        from regard.inside.imagemodel import load_image_model

        model = load_image_model(files)
        image, said = model.read(file), []
    place = image.at(*at) if at is not None else _chosen(image.pieces, asked.piece)
    if at is None and asked.piece is None and not image.special:
        place = image.rows // 2 * image.columns + image.columns // 2
    return Thing(model, file, image.pieces, image.pieces.labels[place], image, said=said)


def _read_sound(name: str, file: str, asked: ThingOptions, written: DecoderOptions) -> Thing:
    from regard.cli.shared.model import read_part

    second = read_second(asked.at)
    from regard.inside.find import find

    files = find(name)
    from regard.inside.soundmodel import load_sound_model

    model = load_sound_model(files)
    part = read_part(model, written.part, written.target)
    heard = model.read(file)
    known = Thing(model, file, heard, until=model.until, part=part)
    if part in ("decoder", "cross"):
        target = model.target(written.target)
        first = next((i for i, gone in enumerate(target.silent) if not gone), 0)
        word = target.labels[first] if written.word is None else written.word
        return replace(known, target=target, chosen=word if part == "cross" else None)
    place = _chosen(heard, asked.piece, model.until)
    if second is not None:
        place = min(int(second / model.step), len(heard) - 1)
        if second >= model.seconds:
            raise RegardError(f"the sound has {model.seconds:.2f} s, from 0; got --at {second:g}")
    return replace(known, chosen=heard.labels[place])


def _read_series(name: str, asked: ThingOptions) -> Thing:
    from regard.inside.find import find

    files = find(name)
    table = replace(asked.table, channel=None)
    series = table.read({})
    channel = series.channel(asked.table.channel)
    from regard.inside.seriesmodel import load_series_model

    model = load_series_model(files)
    window = model.read(series, channel)
    place = _chosen(window.pieces, asked.piece) if asked.at is None else window.at(asked.at)
    assert table.series is not None
    return Thing(model, table.series, window.pieces, window.pieces.labels[place])


def _chosen(pieces: Pieces, piece: int | None, until: int | None = None) -> int:
    """The piece that was asked for; else the first if it is special, or the one in the middle."""
    special = sum(pieces.special)
    if piece is None:
        there = [i for i, p in enumerate(pieces.places) if p and (not until or p[0] < until)]
        return 0 if pieces.special[0] else there[len(there) // 2]
    if piece >= len(pieces):
        raise RegardError(
            f"pieces are counted from 0: there are {len(pieces)}, of which {special} special; "
            f"got {piece}"
        )
    return piece


def read_at(at: str | None) -> tuple[float, float] | None:
    """``120,80`` as two numbers."""
    if at is None:
        return None
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d+)?)\s*,\s*(\d{1,9}(?:\.\d+)?)\s*", at)
    if not found:
        raise RegardError(f"--at is a pixel of the image, X,Y such as 120,80; got {at!r:.60}")
    return float(found[1]), float(found[2])


def read_second(at: str | None) -> float | None:
    """``0.35`` or ``0.35s`` as a number."""
    if at is None:
        return None
    found = re.fullmatch(r"\s*(\d{1,9}(?:\.\d+)?)\s*s?\s*", at)
    if not found:
        raise RegardError(f"--at is a second of the sound, such as 0.35; got {at!r:.60}")
    return float(found[1])


def look_at(thing: Thing, request: LookRequest) -> tuple[Look, bool]:
    """Look at it, with progress; and whether Ctrl-C ended it."""
    from regard.cli.shared.model import noted
    from regard.cli.shared.progress import counted
    from regard.inside.look.look import look
    from regard.train.run.stop import stopping

    cells = request.cells if thing.chosen is None else 0
    wanted = replace(request, word=thing.chosen, asks=thing.part == "cross", cells=cells)
    with noted(), stopping() as stop, counted("looking") as progress:
        found = look(
            thing.model, thing.pieces, wanted, target=thing.target, progress=progress, stop=stop
        )
        return found, stop.is_set()


def title_of(found: Look) -> tuple[Weights, str]:
    """What the chosen piece gives to each piece, and of which heads that is the mean."""
    import numpy as np

    assert found.place is not None
    layer, head, measure = found.request.layer, found.request.head, found.request.measure
    derived = f", derived: {measure}" if measure else ""
    if measure == "rollout":  # each layer has those before it in it
        last = max(found.place.to)
        return found.place.to[last][0], f"through the layers up to {last}{derived}"
    if layer is not None and head is not None:
        return found.place.to[layer][head], f"layer {layer}, head {head}{derived}"
    whole = np.concatenate([found.place.to[number] for number in sorted(found.place.to)])
    where = f"layer {layer}" if layer is not None else number_of(found.done, "layer")
    return whole.mean(0), f"mean of the {number_of(len(whole), 'head')} of {where}{derived}"
