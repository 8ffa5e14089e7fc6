"""``regard evaluate``: how good a trained model is on text that it has not seen."""

from __future__ import annotations

import json
import math
from typing import Any

import click

from regard.cli.shared.numbers import Real, Whole
from regard.errors import RegardError

OPTIONS = {
    "translate": (
        *("pairs", "source", "target", "reverse", "columns"),
        *("beam", "length_penalty", "with", "rouge"),
    ),
    "lm": ("text", "column", "columns"),
    "classify": ("data", "columns", "show"),
    "images": ("images",),
    "forecast": ("series",),
    "recommend": ("history",),
    "sounds": ("sounds",),
    "label": ("data",),
    "label-images": ("images",),
    "label-series": ("series",),
    "act": ("episodes", "environment", "returns", "trials", "seed"),
}
"""Which options go with which kind of model."""
MOST_ASKED = 20
"""Returns that an actor is asked for."""


@click.command()
@click.argument("model", metavar="NAME|FOLDER")
@click.option("--pairs", metavar="FILE", help="Translator: a table, source TAB target a line.")
@click.option("--source", metavar="FILE", help="Instead: source sentences, one a line,")
@click.option("--target", metavar="FILE", help="and their translations.")
@click.option(
    "--reverse",
    is_flag=True,
    default=None,
    help="The table has the target first; of files, exchange them.",
)
@click.option("--columns", metavar="A=B,C=D", help="Of a table, by the names in its first line.")
@click.option("--beam", type=Whole(1), help="Hypotheses kept; 5 unless given.")
@click.option("--length-penalty", type=Real(0, 20), help="1 unless given.")
@click.option(
    "--with",
    metavar="NAME|FOLDER",
    multiple=True,
    help="Translator: another that proposes too, and all judge.",
)
@click.option(
    "--rouge", is_flag=True, default=None, help="Of summaries: ROUGE, and what is copied."
)
@click.option("--text", metavar="FILE", help="Language model: a sentence a line.")
@click.option("--column", type=Whole(1), help="Of a table with tabs: the text's column.")
@click.option("--data", metavar="FILE", help="Classifier, labeller: labelled sentences.")
@click.option(
    "--show",
    type=Whole(1),
    metavar="N",
    help="Also the first N sentences and the words that decided.",
)
@click.option("--images", metavar="DIR|FILE", help="Of images: labelled ones.")
@click.option("--series", metavar="FILE", help="Of series: a table with times.")
@click.option("--history", metavar="FILE", help="Recommender: where its table is now.")
@click.option("--sounds", metavar="DIR", help="Sound classifier: labelled wav files.")
@click.option("--episodes", metavar="FILE", help="Actor: recorded episodes.")
@click.option("--environment", metavar="NAME", help="Actor: act in it, such as CartPole-v1.")
@click.option("--returns", metavar="A,B,…", help="With --environment: the returns to ask for.")
@click.option("--trials", type=Whole(1), help="With --environment: episodes of each; else 20.")
@click.option("--seed", type=Whole(0), help="With --environment: of the first episode; else 1.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write the figures as JSON.")
def evaluate(model: str, json_to: str | None, **options: Any) -> None:
    """Score a model on text that it has not seen.

    \b
    A translator: BLEU and chrF, as a whole and by sentence length; of summaries ROUGE.
    A language model: perplexity.
    A classifier, of sentences, images or sounds: accuracy, and which label was taken for which.
    A forecaster: MSE, MAE and MASE, beside the last value, the last season and a linear map.
    A labeller: the share of right labels, beside the piece alone; F1 of names.
    A recommender: HR@10 and NDCG@10 of all items, beside two baselines.
    An actor: the share of right actions; in an environment, the return got for each return asked.

    Without a file, what its own training set aside to test on is used.
    """
    from regard.cli.shared.output import check_outputs, write_json
    from regard.store.folder import RunFolder, kind_of
    from regard.store.shipped import find_folder, find_together

    read = (value for value in options.values() if isinstance(value, str))
    check_outputs(*read, json=json_to)
    folder = find_folder(model)
    task = RunFolder(folder).read_config().get("task")
    given = {name: value for name, value in options.items() if value not in (None, ())}
    if task not in OPTIONS:
        raise RegardError(f"{model!r} holds a {task!r} run, which cannot be evaluated")
    for name in given:
        if name not in OPTIONS[task]:
            known = ", ".join(f"--{own.replace('_', '-')}" for own in OPTIONS[task])
            raise RegardError(
                f"--{name.replace('_', '-')} is not for {kind_of(task)}, which {model!r} is: "
                f"it takes {known}"
            )
    if task == "act":
        given = act_options(given)
    if "with" in given:
        _, *given["beside"] = find_together([model, *given.pop("with")])
    from regard.train.tasks import evaluate as evaluation
    from regard.views.terminal.console import make_console
    from regard.views.terminal.scores import print_scores

    figures = evaluation.evaluate(folder, model, **given)
    if json_to is not None:
        write_json(json.dumps(figures, allow_nan=False), json_to)
    if json_to != "-":
        print_scores(figures, make_console())


def act_options(given: dict[str, Any]) -> dict[str, Any]:
    """Those of an actor, with the returns as numbers."""
    alone = [name for name in ("returns", "trials", "seed") if name in given]
    if alone and "environment" not in given:
        raise RegardError(f"--{alone[0]} is of acting: it goes with --environment NAME")
    if "returns" not in given:
        return given
    try:
        asked = [float(each) for each in given["returns"].split(",")]
    except ValueError:
        asked = []
    if not asked or not all(math.isfinite(each) for each in asked) or len(asked) > MOST_ASKED:
        raise RegardError(
            f"--returns are at most {MOST_ASKED} numbers with commas between them, such as "
            f"50,200,500; got {given['returns']!r:.60}"
        )
    return given | {"returns": asked}
