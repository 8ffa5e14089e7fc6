"""``regard evaluate``: how good a trained model is on text that it has not seen."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.train.data.pairs import Pairs

OPTIONS = {
    "translate": ("pairs", "source", "target", "reverse", "beam", "length_penalty"),
    "lm": ("text", "column"),
    "classify": ("data", "show"),
}
"""Which options go with which kind of model."""
KINDS = {"translate": "translator", "lm": "language model", "classify": "classifier"}


@click.command()
@click.argument("model", metavar="NAME|FOLDER")
@click.option("--pairs", metavar="FILE", help="Translator: a table, source TAB target a line.")
@click.option("--source", metavar="FILE", help="Instead: source sentences, one a line,")
@click.option("--target", metavar="FILE", help="and their translations.")
@click.option("--reverse", is_flag=True, default=None, help="The table has the target first.")
@click.option("--beam", type=click.IntRange(1), help="Hypotheses kept; 5 unless given.")
@click.option("--length-penalty", type=click.FloatRange(0), help="1 unless given.")
@click.option("--text", metavar="FILE", help="Language model: a sentence a line.")
@click.option("--column", type=click.IntRange(1), help="Of a table with tabs: the text's column.")
@click.option("--data", metavar="FILE", help="Classifier: a label and a sentence a line.")
@click.option(
    "--show",
    type=click.IntRange(1),
    metavar="N",
    help="Also the first N sentences and the words that decided.",
)
@click.option("--json", "json_to", metavar="FILE|-", help="Write the figures as JSON.")
def evaluate(model: str, json_to: str | None, **options: Any) -> None:
    """Score a model on text that it has not seen.

    \b
    A translator: BLEU and chrF, as a whole and by sentence length.
    A language model: perplexity.
    A classifier: accuracy, and which label was taken for which.

    Without a file, what its own training set aside to test on is used.
    """
    from regard.cli.shared.output import write_json
    from regard.store.folder import RunFolder
    from regard.store.shipped import find_folder

    folder = find_folder(model)
    task = RunFolder(folder).read_config().get("task")
    given = {name: value for name, value in options.items() if value is not None}
    if task not in KINDS:
        raise RegardError(f"{model!r} holds a {task!r} run, which cannot be evaluated")
    for name in given:
        if name not in OPTIONS[task]:
            known = ", ".join(f"--{own.replace('_', '-')}" for own in OPTIONS[task])
            raise RegardError(
                f"--{name.replace('_', '-')} is not for a {KINDS[task]}, which {model!r} is: "
                f"it takes {known}"
            )
    measure, show = MEASURES[task]
    result = {"model": model} | measure(folder, **given)
    if json_to is not None:
        write_json(json.dumps(without_nan(result)), json_to)
    if json_to != "-":
        show(result)


def without_nan(value: Any) -> Any:
    """The same with null for what is not a number: JSON has no NaN."""
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


def measure_translator(
    folder: Path, beam: int = 5, length_penalty: float = 1.0, **files: Any
) -> dict[str, Any]:
    from regard.models.translators.translation import translate_texts
    from regard.store.folder import load_translator
    from regard.train.tasks.metrics import bleu, by_length, chrf

    held = _pairs(folder, **files)
    translator, tokens = load_translator(folder)
    sources = [p.source for p in held.pairs]
    references = [p.target for p in held.pairs]
    said = [
        t.text
        for t in translate_texts(
            translator, tokens, sources, beam=beam, length_penalty=length_penalty
        )
    ]
    scores = [bleu(said, references), chrf(said, references)]
    return {
        "sentences": len(sources),
        "empty": len(held.empty),
        "beam": beam,
        "scores": [asdict(s) for s in scores],
        "by_length": [asdict(b) for b in by_length(sources, said, references)],
    }


def _pairs(
    folder: Path,
    pairs: str | None = None,
    source: str | None = None,
    target: str | None = None,
    reverse: bool = False,
) -> Pairs:
    from regard.store.folder import RunFolder
    from regard.train.data.pairs import read_aligned, read_pairs

    if pairs is not None and (source or target):
        raise RegardError("give --pairs or --source with --target, not both")
    if (source is None) != (target is None):
        raise RegardError("--source and --target go together")
    if source is not None and target is not None:
        return read_aligned(source, target)
    if pairs is not None:
        return read_pairs(pairs, 2, 1) if reverse else read_pairs(pairs)
    own = RunFolder(folder).test
    if not own.exists():
        raise RegardError(f"{str(folder)!r} has no test pairs of its own: give --pairs FILE")
    return read_pairs(own)


def print_translator(result: dict[str, Any]) -> None:
    click.echo(f"{result['sentences']} sentences, beam {result['beam']}")
    if result["empty"]:
        click.echo(f"{result['empty']} lines left out: a side is empty")
    for score in result["scores"]:
        click.echo(f"{score['name']:<6} {score['value']:6.2f}   {score['signature']}")
    click.echo("\nwords in source   sentences    BLEU    chrF")
    for b in result["by_length"]:
        span = f"{b['least']}-{b['most']}" if b["most"] else f"{b['least']} and more"
        click.echo(f"{span:>15} {b['sentences']:>11} {b['bleu']:>7.2f} {b['chrf']:>7.2f}")


def measure_language_model(
    folder: Path, text: str | None = None, column: int = 0
) -> dict[str, Any]:
    from regard.store.folder import RunFolder, load_language_model
    from regard.train.data.text import read_sentences
    from regard.train.tasks.perplexity import convention, score_text

    run = RunFolder(folder)
    if text is None and not run.test_text.exists():
        raise RegardError(f"{str(folder)!r} has no test text of its own: give --text FILE")
    held = read_sentences(text or run.test_text, column)
    data = run.read_config()["data"]
    model, tokens = load_language_model(folder)
    score = score_text(
        model,
        tokens,
        [line.text for line in held.lines],
        continuous=data["continuous"],
        chunk=data["chunk"],
    )
    return {
        **asdict(score),
        "empty": len(held.empty),
        "perplexity": score.perplexity,
        "word_perplexity": score.word_perplexity,
        "convention": convention(score.continuous),
    }


def print_language_model(result: dict[str, Any]) -> None:
    click.echo(
        f"{result['sentences']:,} lines, {result['tokens']:,} tokens with the ends of lines, "
        f"{result['unknown'] / result['tokens']:.2%} <unk>"
    )
    if result["empty"]:
        click.echo(f"{result['empty']:,} lines left out: they are empty")
    click.echo(f"perplexity {result['perplexity']:.2f} per token")
    if result["words"] != result["tokens"]:
        click.echo(f"perplexity {result['word_perplexity']:.2f} per word between spaces")
    click.echo(result["convention"])


def measure_classifier(folder: Path, data: str | None = None, show: int = 0) -> dict[str, Any]:
    from regard.models.reading import judge_sentence
    from regard.store.folder import RunFolder, load_classifier
    from regard.train.data.labelled import check_labels, read_labelled
    from regard.train.data.text import encode
    from regard.train.tasks.classify import Confusion, decide

    run = RunFolder(folder)
    if data is None and not run.test.exists():
        raise RegardError(f"{str(folder)!r} has no test sentences of its own: give --data FILE")
    held = read_labelled(data or run.test)
    model, tokens = load_classifier(folder)
    labels = list(model.config.labels)
    check_labels(held.rows, labels, data or run.test)
    found = decide(model, encode([row.text for row in held.rows], tokens))
    right = [labels.index(row.label) for row in held.rows]
    confusion = Confusion.of(labels, right, [int(d.logits.argmax()) for d in found])
    shown = [(row, judge_sentence(model, tokens, row.text)) for row in held.rows[:show]]
    return {
        "sentences": len(held.rows),
        "empty": len(held.empty),
        "accuracy": confusion.accuracy,
        "commonest": confusion.commonest,
        "labels": labels,
        "confusion": confusion.counts.tolist(),
        "recall": confusion.recall(),
        "precision": confusion.precision(),
        "shown": [
            {
                "label": row.label,
                "said": verdict.label,
                "words": verdict.words,
                "weights": verdict.weights.tolist(),
            }
            for row, verdict in shown
        ],
    }


def print_classifier(result: dict[str, Any]) -> None:
    from regard.text import visible
    from regard.views.terminal.confusion import print_confusion
    from regard.views.terminal.console import make_console
    from regard.views.terminal.reading import print_weighted

    click.echo(f"{result['sentences']:,} sentences")
    if result["empty"]:
        click.echo(f"{result['empty']:,} lines left out: they have no sentence")
    click.echo(
        f"accuracy {100 * result['accuracy']:.2f} %   "
        f"(always the commonest label: {100 * result['commonest']:.2f} %)\n"
    )
    console = make_console()
    print_confusion(
        result["labels"], result["confusion"], result["recall"], result["precision"], console
    )
    for each in result["shown"]:
        said, label = visible(each["said"]), visible(each["label"])
        click.echo(f"\n{said}" + ("" if said == label else f" (it is {label})"))
        print_weighted(each["words"], each["weights"], console)


MEASURES: dict[str, tuple[Callable[..., dict[str, Any]], Callable[[dict[str, Any]], None]]] = {
    "translate": (measure_translator, print_translator),
    "lm": (measure_language_model, print_language_model),
    "classify": (measure_classifier, print_classifier),
}
"""Of each kind of model: how it is measured, and how that is printed."""
