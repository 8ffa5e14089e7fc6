"""``regard export``: a trained model in the form of another library."""

from __future__ import annotations

import click

from regard.store.exchange.export import FORMATS
from regard.store.exchange.export import export as write_export
from regard.text import visible


@click.command()
@click.argument("model", metavar="NAME|FOLDER")
@click.option(
    "--to", type=click.Choice(FORMATS), required=True, help="The library that will run it."
)
@click.option("-o", "--output", required=True, metavar="FOLDER", help="A new folder for its files.")
def export(model: str, to: str, output: str) -> None:
    """Write a model that you trained, or one that comes with regard, for another library.

    \b
    regard export transformer --to huggingface -o exported
    regard export runs/mine --to ctranslate2 -o fast
    regard export lstmn --to onnx -o words

    The Transformer goes everywhere, language models and classifiers of every design to ONNX; what
    cannot go is refused with the reason. The card, with the licence of
    what the model was trained on, goes along as a README.
    """
    files = write_export(model, to, output)
    click.echo(f"Written to {visible(output)}: {', '.join(files)}")
