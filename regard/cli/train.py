"""``regard train``: train a model on your own data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import click

from regard.cli.shared.training import run

Command = Callable[..., Any]

TEXT = [
    click.option("--vocabulary", type=int, metavar="N", help="How many tokens."),
    click.option("--tokenizer", metavar="FILE", help="Your own: tokenizers JSON, SentencePiece."),
    click.option("--max-length", type=int, metavar="N", help="Leave out longer text; in tokens."),
]
"""Options of how text becomes tokens."""
SHARED = [
    click.option("--dropout", type=float, metavar="P", help="Share of numbers dropped."),
    click.option("--learning-rate", type=float, metavar="X", help="The highest step size."),
    click.option("--optimizer", metavar="NAME", help="adamw, adafactor or sgd."),
    click.option("--batch-tokens", type=int, metavar="N", help="Most tokens in a batch."),
    click.option("--epochs", type=int, metavar="N", help="Stop after N passes over the data."),
    click.option("--steps", type=int, metavar="N", help="Stop after N updates."),
    click.option("--minutes", type=float, metavar="M", help="Be done after M minutes."),
    click.option(
        "--patience", type=int, metavar="N", help="Stop after N validations without a best."
    ),
    click.option("--seed", type=int, metavar="N", help="Decides weights, dropout, order of data."),
    click.option("--threads", type=int, metavar="N", help="CPU threads."),
    click.option("--precision", metavar="TYPE", help="Of products: float32 or bfloat16."),
    click.option(
        "--from",
        "start",
        metavar="RUN|FILE",
        help="Begin with this run, its weights, or a shipped model.",
    ),
    click.option("--freeze", metavar="PARTS", help="Parts that stay as they begin: encoder,…"),
    click.option(
        "--config", metavar="FILE", help="Settings in TOML; what is given here wins over them."
    ),
    click.option(
        "--set", "assignments", multiple=True, metavar="A.B=1", help="Any setting; repeatable."
    ),
    click.option("-o", "--output", metavar="FOLDER", help="The run folder."),
    click.option(
        "--find-rate", is_flag=True, help="Instead: try rising learning rates, and name one."
    ),
    click.option("--resume", is_flag=True, help="Go on with the run in the folder, exactly."),
    click.option("--tensorboard", is_flag=True, help="Also log for TensorBoard."),
]
"""Options of every kind of training."""
TABLE = [
    click.option("--context", type=int, metavar="N", help="How many steps to read."),
    click.option("--columns", metavar="A,B", help="The columns of numbers; else all others."),
    click.option("--time", metavar="NAME", help="The column of times; else date, time, …"),
    click.option("--decimal", metavar="SIGN", help="What stands before decimals: . or ,"),
    click.option("--gaps", metavar="WHAT", help="steps: each row is one step (trading days)."),
]
"""Options of how a series is read."""
LEVEL = click.option(
    "--level", metavar="LEVEL", help="Tokens are pieces (bpe), words (word), or as spaced (space)."
)
SEQUENCES = "simple-rnn, simple-rnn+attention, lstm, lstmn, transformer."
"""The designs that read any sequence."""


def with_options(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Give a command these options, in their order."""

    def given(function: Command) -> Command:
        for option in reversed(options):
            function = option(function)
        return function

    return given


def designed(
    names: str = SEQUENCES, sizes: str = "tiny, small or base."
) -> Callable[[Command], Command]:
    """``--model`` and ``--size``, and behind them what all trainings take."""
    return with_options(
        click.option("--model", metavar="NAME", help=names),
        click.option("--size", metavar="SIZE", help=sizes),
        *SHARED,
    )


@click.group()
def train() -> None:
    """Train a model on your own data: text, images, sounds, series, histories, episodes.

    'regard train COMMAND --help' says what each takes, for example 'regard train translate --help'.
    """


@train.command()
@click.option("--pairs", metavar="FILE", help="A table: source TAB target a line; - is stdin.")
@click.option("--source", metavar="FILE", help="Instead: source sentences, one a line,")
@click.option("--target", metavar="FILE", help="and their translations, line by line.")
@click.option("--source-column", type=int, metavar="N", help="The table's column of the source.")
@click.option("--target-column", type=int, metavar="N", help="The table's column of the target.")
@click.option("--columns", metavar="A=B,C=D", help="By name: source=de,target=en; .csv has commas.")
@click.option("--reverse", is_flag=True, help="Swap source and target, in tables and files.")
@click.option(
    "--valid-pairs", metavar="FILE", help="A table to validate on; else 1 % is set aside."
)
@click.option("--valid-source", metavar="FILE", help="Instead: source sentences to validate on,")
@click.option("--valid-target", metavar="FILE", help="and their translations.")
@click.option("--test-pairs", metavar="FILE", help="A table to test on; else 1 % is set aside.")
@click.option("--test-source", metavar="FILE", help="Instead: source sentences to test on,")
@click.option("--test-target", metavar="FILE", help="and their translations.")
@click.option("--level", metavar="LEVEL", help="Tokens are pieces of words (bpe) or words (word).")
@click.option(
    "--pointer", is_flag=True, default=None, help="Words can be copied: bahdanau, transformer."
)
@with_options(*TEXT)
@designed(
    "word-by-word, encoder-decoder, bahdanau, lstmn-shallow, lstmn-deep, transformer.",
    "tiny, small, or base: as in the original paper.",
)
def translate(reverse: bool, **options: Any) -> None:
    """Train a translator on sentence pairs.

    \b
    regard train translate --pairs deu.tsv --model bahdanau --size small -o runs/bahdanau
    regard train translate -o runs/bahdanau --resume

    All settings with a sentence for each: 'regard docs train'. Several processes: start it with
    'torchrun --nproc-per-node 2 -m regard train translate …'.
    """
    run("translate", options, reverse)


@train.command()
@click.option("--text", metavar="FILE", help="A sentence a line, plain or gzip; - is stdin.")
@click.option("--column", type=int, metavar="N", help="Of a table: the text's column, from 1,")
@click.option("--columns", metavar="text=NAME", help="or by its name in the first line.")
@click.option("--unique", is_flag=True, default=None, help="Repeated sentences count once.")
@click.option("--valid", metavar="FILE", help="A text to validate on; else 1 % is set aside.")
@click.option("--test", metavar="FILE", help="A text to test on; else 1 % is set aside.")
@click.option(
    "--continuous", is_flag=True, default=None, help="Carry the state over from line to line."
)
@LEVEL
@with_options(*TEXT)
@designed()
def lm(**options: Any) -> None:
    """Train a language model on a text.

    \b
    regard train lm --text english.txt --model lstmn -o runs/lstmn
    regard train lm --text ptb.train.txt.gz --valid ptb.valid.txt.gz --test ptb.test.txt.gz \\
        --level space --model lstm -o runs/lstm

    All settings with a sentence for each: 'regard docs language'. 'regard evaluate' gives the
    perplexity on the test part, 'regard read' shows what each word attends to.
    """
    run("lm", options)


@train.command()
@click.option("--data", metavar="FILE", help="A label and a sentence a line; - is stdin.")
@click.option("--columns", metavar="A=B,C=D", help="Of a table: label=stars,text=review.")
@click.option("--images", metavar="DIR|FILE", help="Instead: images by label; IDX or npz file.")
@click.option("--sounds", metavar="DIR", help="Instead: wav files by label.")
@click.option("--train-share", type=float, metavar="P", help="Of images, sounds: of this share.")
@click.option("--vectors", metavar="FILE", help="Word vectors to start from, such as GloVe's.")
@click.option("--valid", metavar="FILE", help="The same to validate on; else 1 % is set aside.")
@click.option("--test", metavar="FILE", help="The same to test on; else 1 % is set aside.")
@LEVEL
@with_options(*TEXT)
@designed(f"words, {SEQUENCES[:-1]}; of images and sounds patches, conv, average.")
def classify(**options: Any) -> None:
    """Train a classifier on labelled sentences, images or sounds.

    \b
    regard train classify --data reviews.tsv --model lstmn -o runs/reviews
    regard train classify --data stsa.binary.train --valid stsa.binary.dev \\
        --test stsa.binary.test --level space --model words -o runs/words
    regard train classify --images digits.npz --model patches -o runs/digits
    regard train classify --sounds spoken --model patches -o runs/spoken

    The label comes first, then a tab or a space, then the sentence. All settings with a sentence
    for each: 'regard docs classify'. 'regard evaluate' gives accuracy and confusion on the test
    part.
    """
    run("classify", options)


@train.command()
@click.option("--data", metavar="FILE", help="A word and its label a line; CoNLL-U; - is stdin.")
@click.option("--column", metavar="N|NAME", help="Of the labels; else upos, or the last.")
@click.option("--images", metavar="FILE", help="Instead: an npz file, a label for each pixel.")
@click.option("--series", metavar="FILE", help="Instead: a table of times, numbers and")
@click.option("--state", metavar="NAME", help="this column: the state at each time.")
@with_options(*TABLE)
@click.option("--valid", metavar="FILE", help="The same to validate on; else a part is set aside.")
@click.option("--test", metavar="FILE", help="The same to test on; else a part is set aside.")
@LEVEL
@with_options(*TEXT)
@designed(f"alone, conv, {SEQUENCES}")
def label(**options: Any) -> None:
    """Train a labeller: a label for each word, each patch of an image, each step of a series.

    \b
    regard train label --data en-train.conllu --test en-test.conllu -o runs/tags
    regard train label --images scenes.npz -o runs/scenes
    regard train label --series weather.csv --state weather -o runs/weather

    Words stand one a line with their label, a blank line between sentences: CoNLL-U, or the word in
    the first column and its label in the last. 'regard evaluate' gives the share of right labels
    beside what the piece alone would say, 'regard read' the label of each and what it looked at.
    All settings: 'regard docs label'.
    """
    run("label", options)


@train.command()
@click.option("--series", metavar="FILE", help="A table (CSV): a column of times, then numbers.")
@click.option("--horizon", type=int, metavar="N", help="How many steps to forecast; else 24.")
@click.option("--season", type=int, metavar="N", help="Steps of a season, where times do not say.")
@with_options(*TABLE)
@designed()
def forecast(**options: Any) -> None:
    """Train a forecaster on a series: numbers at equal distances in time.

    \b
    regard train forecast --series load.csv --horizon 96 -o runs/load
    regard train forecast --series prices.csv --columns close --gaps steps --horizon 5 \\
        --model simple-rnn -o runs/prices

    The first rows are trained on, the last fifth is tested on. 'regard evaluate' gives the errors
    beside those of the last value, the last season and a linear map; 'regard read --series' draws
    a forecast and what it looked at. All settings: 'regard docs forecast'.
    """
    run("forecast", options)


@train.command()
@click.option("--history", metavar="FILE", help="A table of user, item and time; tabs, or .csv.")
@click.option("--columns", metavar="A=B,…", help="Names or numbers: user=1,item=2,time=4.")
@click.option("--items", metavar="FILE", help="A table of items and their titles.")
@click.option("--max-length", type=int, metavar="N", help="The last N items of a user are read.")
@designed()
def recommend(**options: Any) -> None:
    """Train a recommender on what users had, item after item.

    \b
    regard train recommend --history events.tsv --items titles.tsv -o runs/items
    regard train recommend --history ratings.csv --model lstmn -o runs/lstmn

    The last item of each user is kept to test on, the one before it to validate. 'regard evaluate'
    ranks all items, beside popularity and the last item's successors; 'regard read --user' shows
    what a recommendation looked at. All settings with a sentence for each: 'regard docs recommend'.
    """
    run("recommend", options)


@train.command()
@click.option("--episodes", metavar="FILE", help="Recorded steps: an npz file, or a table (.csv).")
@click.option("--context", type=int, metavar="N", help="How many steps to read at once; else 20.")
@designed(f"alone, {SEQUENCES}")
def act(**options: Any) -> None:
    """Train an actor on recorded episodes: a Decision Transformer.

    \b
    regard train act --episodes cartpole.npz -o runs/act
    regard train act --episodes cartpole.npz --model lstmn -o runs/lstmn

    A table has the columns episode, step, action, reward and those of the state, a line a step; an
    npz file the arrays episode, step, state, action, reward. 'regard evaluate' says how often the
    next action is right and, with --environment, what return it gets for the return that is asked;
    'regard read --episode' what an action looked at. All settings: 'regard docs act'.
    """
    run("act", options)
