"""What ``look``, ``heads`` and ``serve`` share: a model loaded and run, with words on stderr."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from regard.errors import RegardError
from regard.text import visible

if TYPE_CHECKING:
    from regard.inside.realmodel import RealModel
    from regard.inside.textmodel import TextModel
    from regard.pieces.look import Look, LookRequest
    from regard.pieces.pieces import Pieces

PARTS = ["encoder", "decoder", "cross"]


def load_models(*names: str, predicts: bool = False) -> dict[str, TextModel]:
    """Load, saying so: a large model takes a while; ``predicts``: with its scores of words."""
    from rich.console import Console

    from regard.inside.find import find
    from regard.pieces.text import check_tokenizer

    console = Console(file=sys.stderr)  # this one, also while transformers is kept quiet
    loaded = {}
    with noted():
        found = {name: find(name) for name in names}  # refused before torch is imported
        for files in found.values():
            if files.onnx is not None:
                raise RegardError(
                    f"{files.name!r} is an ONNX file and reads no text here: 'regard look' reads "
                    "an image with it (--image), or observe it from Python ('regard docs ocr')"
                )
            check_tokenizer(files.folder, files.gguf)
        from regard.inside.textmodel import load

        for name, files in found.items():
            shown = console.status(f"loading {visible(name)}") if console.is_terminal else None
            with shown or nullcontext():
                loaded[name] = load(files, predicts=predicts)
    return loaded


def load_model(name: str, *, predicts: bool = False) -> TextModel:
    return load_models(name, predicts=predicts)[name]


def load_any(name: str, *, predicts: bool = True) -> TextModel:
    """One that regard trained, by its name or run folder, or any other, with its scores if it
    ``predicts``."""
    from regard.store.shipped import is_own

    if is_own(name):
        from regard.inside.ownmodel import load_own

        return load_own(name)
    return load_model(name, predicts=predicts)


def read_part(model: RealModel, part: str | None, target: str | None) -> str:
    """Which attention of a model with encoder and decoder; the encoder's if nothing is said."""
    if model.has_both:
        if part == "encoder" and target is not None:
            raise RegardError(
                "--target is what the decoder reads: it goes with --part decoder or cross"
            )
        return part or ("cross" if target is not None else "encoder")
    for name, value in (("--part", part), ("--target", target)):
        if value is not None:
            raise RegardError(
                f"{name} is for models with an encoder and a decoder, not {model.name}"
            )
    return ""


def load_measured(
    name: str, part: str | None, target: str | None, measures: Sequence[str]
) -> tuple[TextModel, str]:
    """The model with what ``measures`` need of it, and which attention is looked at."""
    if "gradient" not in measures:
        model = load_any(name, predicts=False)
        return model, read_part(model, part, target)
    model = load_any(name)  # a gradient is of what the model says
    return model, read_part(model, part, None)


def look_at(
    model: TextModel, text: str, request: LookRequest, target: str | None, most: int | None
) -> tuple[Look, bool]:
    """Read the text and look at it, with an estimate and progress; and whether Ctrl-C ended it."""
    from regard.cli.shared.output import note_unknown
    from regard.cli.shared.progress import counted
    from regard.inside.look.look import look
    from regard.inside.look.page import check_page
    from regard.pieces.unknown import Unknown
    from regard.train.run.stop import stopping

    tokens = model.read(text, most)
    note_unknown(Unknown(tokens), model.title)
    other = model.target(tokens, target, most) if request.part in ("decoder", "cross") else None
    if request.words and not tokens.placed:
        raise RegardError(
            f"--words needs to know where the tokens stand, and the tokenizer of {model.name} "
            "does not say; leave it out"
        )
    if request.page:
        check_page(model, tokens, request.layers, request.measures)
    plain = replace(request, word=None, link=None, layer=None, head=None, page=False)
    with noted(), stopping() as stop, counted("looking") as progress:
        if not model.has_both:
            estimate_first(model, tokens, plain)
        found = look(model, tokens, request, target=other, progress=progress, stop=stop)
        return found, stop.is_set()


def exit_stopped(look: Look) -> None:
    """Say how far it came, and end as a program does that Ctrl-C ended."""
    what = f"stopped after layer {look.done} of {look.layers}; this is what was finished"
    click.echo(f"regard: {what}", err=True)
    click.get_current_context().exit(130)


@contextmanager
def noted() -> Iterator[None]:
    """Warnings of the library as notes on stderr, each once."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        try:
            yield
        finally:
            for text in dict.fromkeys(str(w.message) for w in caught):
                click.echo(f"regard: note: {visible(text)}", err=True)


def estimate_first(model: TextModel, tokens: Pieces, request: LookRequest) -> None:
    """For a long text, said before the work begins: what it will take, measured on its start."""
    from regard.cost.estimate import LARGE, estimate
    from regard.inside.look.beginning import Beginning

    if len(tokens) < LARGE:
        return
    beginning = Beginning(model, tokens, request)
    found = estimate(beginning, len(tokens), beginning.times)
    click.echo(f"{len(tokens):,} tokens: {found} (measured on the first 1,024 tokens)", err=True)
    found.check()
