"""What ``look`` and ``heads`` share: a text to read, a model to read it, progress on stderr."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.errors import FileError, RegardError
from regard.text import visible

if TYPE_CHECKING:
    from regard.cost.estimate import Estimate
    from regard.inside.textmodel import TextModel
    from regard.pieces.text import TextPieces

PARTS = ["encoder", "decoder", "cross"]


def read_text(text: str | None, file: str | None) -> str:
    """The text itself, or that of a file; ``-`` is standard input."""
    if (text is None) == (file is None):
        got = "neither" if text is None else "both"
        raise RegardError(f"give a TEXT (- for standard input) or --file FILE; got {got}")
    if file is None and text != "-":
        return text or ""
    from regard.train.data.lines import read_lines

    return "\n".join(read_lines("-" if file is None else file))


def read_part(model: TextModel, part: str | None, target: str | None) -> str:
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


def check_folders(*files: str | None) -> None:
    """What can be known to be wrong with a file's name is said before the model runs."""
    for file in files:
        if file and file != "-" and not Path(file).absolute().parent.is_dir():
            raise FileError(f"cannot write {file!r}: its folder does not exist")


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


def load_model(name: str) -> TextModel:
    """Load, saying so: a large model takes a while."""
    from rich.console import Console

    from regard.inside.textmodel import load

    console = Console(file=sys.stderr)  # this one, also while transformers is kept quiet
    with noted():
        if not console.is_terminal:
            return load(name)
        with console.status(f"loading {visible(name)}"):
            return load(name)


def estimated(run: Callable[[TextPieces], object], tokens: TextPieces) -> Estimate | None:
    """For a long text, said before the work begins: what it will take, measured on its start."""
    from regard.cost.estimate import LARGE, estimate

    if len(tokens) < LARGE:
        return None
    found = estimate(lambda n: run(tokens.beginning(n)), len(tokens))
    click.echo(f"{len(tokens):,} tokens: {found} (measured on the first 1,024 tokens)", err=True)
    found.check()
    return found


@contextmanager
def layers_done(what: str) -> Iterator[Callable[[int, int], None]]:
    """A bar on a terminal; elsewhere a line now and then, and only if it takes long."""
    from regard.cli.words import progress

    with progress(what) as report:
        yield report
