"""``regard live``: models inside one HTML file that runs them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from regard.cli.shared.output import check_outputs
from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.live.carried import CarriedModel


@click.command()
@click.argument("models", nargs=-1, metavar="MODEL…")
@click.option("-o", "--output", "to", metavar="FILE", help="The page to write.")
@click.option("--folder", metavar="FOLDER", help="A page for each model, with an index.html.")
@click.option(
    "--bits",
    type=click.Choice(["8", "16"]),
    help="Of a weight; else 8 where a model comes so, 16 otherwise.",
)
@click.option(
    "--example",
    "examples",
    multiple=True,
    metavar="TEXT",
    help="A sentence to offer and prove; of a model of images a file.",
)
def live(
    models: tuple[str, ...],
    to: str | None,
    folder: str | None,
    bits: str | None,
    examples: tuple[str, ...],
) -> None:
    """Write a page that carries MODELs and runs them in the browser, offline.

    A MODEL is one that comes with regard, minilm, or a run folder of your own. Translators and
    readers take the sentence that is typed, fashion the image that is drawn.

    \b
    regard live bahdanau -o bahdanau.html
    regard live bahdanau transformer -o two.html
    regard live bahdanau lstmn --folder gallery
    """
    if not models:
        raise RegardError("name at least one model, such as: regard live bahdanau -o page.html")
    if (to is None) == (folder is None):
        raise RegardError(
            "a living page is a file: add -o FILE, such as -o page.html, or --folder FOLDER for a "
            "page each and an index, not both"
        )
    check_outputs(*examples, output=to)
    from regard.live.carried import carry

    carried = [carry(name, bits=int(bits or 0), examples=examples) for name in models]
    if to is not None:
        _write_page(to, carried)
    if folder is not None:
        _write_folder(Path(folder), carried)


def _write_page(to: str, models: Sequence[CarriedModel]) -> None:
    from regard.live.file import FOR_MAIL, save_live

    size = save_live(to, models)
    click.echo(f"wrote {to}: {size / 1e6:.1f} MB, opens offline")
    if size > FOR_MAIL:
        click.echo("note: too large for most mail (20 MB); share it as a file or a link", err=True)


def _write_folder(folder: Path, models: Sequence[CarriedModel]) -> None:
    from regard.live.gallery import INDEX, save_gallery

    for shown in save_gallery(folder, models):
        click.echo(f"wrote {shown.file}: {shown.size / 1e6:.1f} MB")
    click.echo(f"wrote {folder / INDEX}: put the folder on any static host, or open it")
