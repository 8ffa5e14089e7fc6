"""``regard explain``: every step of attention for one word, with the real numbers."""

from __future__ import annotations

from typing import Any

import click

from regard.cli.shared.example import explain_file, explain_vectors
from regard.cli.shared.explainoptions import OF_VECTORS, OF_WHOLE, ExplainOptions
from regard.cli.shared.head import DEFAULT, explain_head
from regard.cli.shared.input import read_text
from regard.cli.shared.model import PARTS
from regard.cli.shared.numbers import Real, Whole
from regard.cli.shared.output import check_outputs
from regard.cli.shared.step import explain_step
from regard.cli.shared.whole import explain_way
from regard.errors import RegardError
from regard.files import check_readable


@click.command()
@click.argument("sentence", required=False)
@click.option("--file", metavar="FILE", help="Read the sentence from a file; - is standard input.")
@click.option("--word", metavar="WORD", help="The word to explain; the#2 is the second 'the'.")
@click.option("--head", type=Whole(0), help="The head to show, from 0.")
@click.option("--json", "json_to", metavar="FILE|-", help="Write the trace as JSON.")
@click.option("--html", "html_to", metavar="FILE", help="Write a page ('regard docs page').")
@click.option(
    "--form",
    type=click.Choice(["vector", "matrix", "both"]),
    help="Each step in its vector form, its matrix form, or both.",
)
@click.option(
    "--model",
    metavar="MODEL",
    default=DEFAULT,
    show_default=True,
    help="An alias, a folder, or a name on the hub.",
)
@click.option("--layer", type=Whole(0), help="Model: the layer to show, from 0.")
@click.option("--to", metavar="WORD", help="Model: find the head that links --word to this word.")
@click.option("--part", type=click.Choice(PARTS), help="Of a model with encoder and decoder.")
@click.option("--target", metavar="TEXT", help="What a translator's decoder reads.")
@click.option("--compare", metavar="SENTENCE", help="Model: the same head in another sentence.")
@click.option("--all", "everything", is_flag=True, help="Model: every number of every vector.")
@click.option("--whole", is_flag=True, help="Model: follow the word to the prediction.")
@click.option("--parts", is_flag=True, help="Whole: what each head and layer adds to the logit.")
@click.option("--said", metavar="WORD", help="Parts: of this word instead of the likeliest.")
@click.option(
    "--temperature",
    type=Real(0.01, 100),
    default=1.0,
    show_default=True,
    help="Prediction: of softmax.",
)
@click.option(
    "--top", type=Whole(1), default=10, show_default=True, help="Prediction: words shown."
)
@click.option("--example", metavar="FILE", help="Matrices from a TOML file ('regard docs check').")
@click.option("--vectors", metavar="FILE", help="Word vectors: GloVe, word2vec or fastText.")
@click.option(
    "--mechanism",
    type=click.Choice(["simple", "scaled", "multihead"]),
    default="simple",
    show_default=True,
    help="Vectors: what to compute with them.",
)
@click.option("--seed", type=Whole(0), help="Vectors: random weight matrices (untrained).")
@click.option(
    "--weights", metavar="FILE", help="Vectors: w_q, w_k, w_v, w_o from a safetensors file."
)
@click.option("--heads", type=Whole(1), default=2, show_default=True, help="Vectors: how many.")
@click.option("--key-width", type=Whole(1), help="Vectors: numbers in a key, for --seed.")
@click.option("--positions", type=click.Choice(["sinusoidal"]), help="Vectors: add positions.")
@click.option("--causal", is_flag=True, help="Vectors: a word sees itself and those before it.")
@click.option("--skip-unknown", is_flag=True, help="Leave out words that have no vector.")
@click.pass_context
def explain(
    ctx: click.Context,
    /,
    sentence: str | None,
    file: str | None,
    example: str | None,
    **given: Any,
) -> None:
    """Show every step of attention for one word of a SENTENCE, or of a worked example.

    A sentence (- reads standard input) is read by a real model, or, with --vectors, by attention
    over word vectors.

    \b
    regard explain "The animal didn't cross the street because it was too tired" \\
        --word it
    regard explain --example tutorial-corrected
    regard explain "The cat sat on the mat" --vectors glove.6B.50d.txt --word mat
    """
    sources = sum(source is not None for source in (sentence, file, example))
    if sources != 1:
        got = "none of them" if not sources else f"{sources} of them"
        raise RegardError(f"explain takes a sentence, --file FILE or --example FILE; got {got}")
    options = ExplainOptions.of(ctx, given)
    from regard.worked.formats import read_example

    source = None if example is None else read_example(example)
    for named in (options.of_vectors["vectors"], options.of_vectors["weights"]):
        if named is not None:
            check_readable(named)
    check_outputs(file, example, json=options.json_to, html=options.html_to)
    if source is not None:
        explain_file(source, options)
        return
    text = read_text(sentence, file)
    if options.has(*OF_VECTORS):
        explain_vectors(text, options)
        return
    from regard.store.shipped import is_recurrent

    if is_recurrent(options.model):
        explain_step(text, options)
    elif options.whole:
        explain_way(text, options)
    else:
        options.refuse(*OF_WHOLE, why="it goes with --whole")
        explain_head(text, options)
