"""``regard live``: models inside one HTML file that runs them."""

from __future__ import annotations

import click

from regard.cli.shared.output import check_outputs
from regard.errors import RegardError


@click.command()
@click.argument("models", nargs=-1, metavar="MODEL…")
@click.option("-o", "--output", "to", metavar="FILE", help="The page to write.")
@click.option(
    "--bits",
    type=click.Choice(["8", "16"]),
    help="Of a weight; else 8 where a model comes so, 16 otherwise.",
)
@click.option(
    "--example", "examples", multiple=True, metavar="TEXT", help="A sentence to offer and prove."
)
def live(
    models: tuple[str, ...], to: str | None, bits: str | None, examples: tuple[str, ...]
) -> None:
    """Write a page that carries MODELs and runs them in the browser, offline.

    A MODEL is one that comes with regard, minilm, or a run folder of your own.

    \b
    regard live bahdanau -o bahdanau.html
    regard live bahdanau transformer -o two.html
    """
    if not models:
        raise RegardError("name at least one model, such as: regard live bahdanau -o page.html")
    if to is None:
        raise RegardError("a living page is a file: add -o FILE, such as -o page.html")
    check_outputs(output=to)
    from regard.live.carried import carry
    from regard.live.file import FOR_MAIL, save_live

    carried = [carry(name, bits=int(bits or 0), examples=examples) for name in models]
    size = save_live(to, carried)
    click.echo(f"wrote {to}: {size / 1e6:.1f} MB, opens offline")
    if size > FOR_MAIL:
        click.echo("note: too large for most mail (20 MB); share it as a file or a link", err=True)
