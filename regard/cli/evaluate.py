"""``regard evaluate``: how good a trained model is on text that it has not seen."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.train.pairs import Pairs


@click.command()
@click.argument("model", metavar="NAME|FOLDER")
@click.option("--pairs", metavar="FILE", help="A table: source TAB target a line.")
@click.option("--source", metavar="FILE", help="Instead: source sentences, one a line,")
@click.option("--target", metavar="FILE", help="and their translations.")
@click.option("--reverse", is_flag=True, help="The table has the target first.")
@click.option("--beam", type=click.IntRange(1), default=5, show_default=True)
@click.option("--length-penalty", type=click.FloatRange(0), default=1.0, show_default=True)
@click.option("--json", "json_to", metavar="FILE|-", help="Write the figures as JSON.")
def evaluate(
    model: str,
    pairs: str | None,
    source: str | None,
    target: str | None,
    reverse: bool,
    beam: int,
    length_penalty: float,
    json_to: str | None,
) -> None:
    """BLEU and chrF of a translator, as a whole and by sentence length.

    Without --pairs or --source the pairs that its own training set aside (test.tsv) are used.
    """
    from regard.cli.output import write_json
    from regard.models.translation import translate_texts
    from regard.train.metrics import bleu, by_length, chrf
    from regard.train.shipped import find_translator

    held = _pairs(model, pairs, source, target, reverse)
    translator, tokens = find_translator(model)
    sources = [p.source for p in held.pairs]
    references = [p.target for p in held.pairs]
    said = [
        t.text
        for t in translate_texts(
            translator, tokens, sources, beam=beam, length_penalty=length_penalty
        )
    ]
    scores = [bleu(said, references), chrf(said, references)]
    buckets = by_length(sources, said, references)
    result: dict[str, Any] = {
        "model": model,
        "sentences": len(sources),
        "empty": len(held.empty),
        "beam": beam,
        "scores": [asdict(s) for s in scores],
        "by_length": [asdict(b) for b in buckets],
    }
    if json_to is not None:
        write_json(json.dumps(result), json_to)
    if json_to != "-":
        _print(result)


def _pairs(
    model: str, pairs: str | None, source: str | None, target: str | None, reverse: bool
) -> Pairs:
    from regard.train.folder import RunFolder
    from regard.train.pairs import read_aligned, read_pairs
    from regard.train.shipped import find_folder

    if pairs is not None and (source or target):
        raise RegardError("give --pairs or --source with --target, not both")
    if (source is None) != (target is None):
        raise RegardError("--source and --target go together")
    if source is not None and target is not None:
        return read_aligned(source, target)
    if pairs is not None:
        return read_pairs(pairs, 2, 1) if reverse else read_pairs(pairs)
    own = RunFolder(find_folder(model, "translate")).test
    if not own.exists():
        raise RegardError(f"{model!r} has no test pairs of its own: give --pairs FILE")
    return read_pairs(own)


def _print(result: dict[str, Any]) -> None:
    click.echo(f"{result['sentences']} sentences, beam {result['beam']}")
    if result["empty"]:
        click.echo(f"{result['empty']} lines left out: a side is empty")
    for score in result["scores"]:
        click.echo(f"{score['name']:<6} {score['value']:6.2f}   {score['signature']}")
    click.echo("\nwords in source   sentences    BLEU    chrF")
    for b in result["by_length"]:
        span = f"{b['least']}-{b['most']}" if b["most"] else f"{b['least']} and more"
        click.echo(f"{span:>15} {b['sentences']:>11} {b['bleu']:>7.2f} {b['chrf']:>7.2f}")
