"""``regard explain``: every step of attention for one word, with the real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from regard.errors import RegardError
from regard.views.text import find_token, visible

if TYPE_CHECKING:
    from regard.trace import Trace
    from regard.worked.example import Example


@click.command()
@click.argument("sentence", required=False)
@click.option("--example", metavar="FILE", help="Matrices from a TOML file (docs/check.md).")
@click.option("--vectors", metavar="FILE", help="Word vectors: GloVe, word2vec or fastText.")
@click.option(
    "--mechanism",
    type=click.Choice(["simple", "scaled", "multihead"]),
    default="simple",
    show_default=True,
)
@click.option("--word", metavar="WORD", help="The word to explain; the#2 is the second 'the'.")
@click.option(
    "--seed", type=click.IntRange(0), help="Random weight matrices from this seed (untrained)."
)
@click.option("--weights", metavar="FILE", help="w_q, w_k, w_v, w_o from a safetensors file.")
@click.option("--heads", type=click.IntRange(1), default=2, show_default=True)
@click.option("--key-width", type=click.IntRange(1), help="Numbers in a key, for --seed.")
@click.option("--head", type=click.IntRange(0), default=0, help="The head to show, from 0.")
@click.option("--positions", type=click.Choice(["sinusoidal"]), help="Add positions.")
@click.option("--causal", is_flag=True, help="A word sees only itself and those before it.")
@click.option("--skip-unknown", is_flag=True, help="Leave out words that have no vector.")
@click.option(
    "--form",
    type=click.Choice(["vector", "matrix", "both"]),
    default="both",
    show_default=True,
)
@click.option("--json", "json_to", metavar="FILE|-", help="Write the trace as JSON.")
@click.pass_context
def explain(
    ctx: click.Context,
    sentence: str | None,
    example: str | None,
    vectors: str | None,
    mechanism: str,
    word: str | None,
    seed: int | None,
    weights: str | None,
    heads: int,
    key_width: int | None,
    head: int,
    positions: str | None,
    causal: bool,
    skip_unknown: bool,
    form: str,
    json_to: str | None,
) -> None:
    """Show every step of attention for one word of a SENTENCE, or of a worked example.

    \b
    regard explain --example examples/tutorial-corrected.toml
    regard explain "The cat sat on the mat" --vectors glove.6B.50d.txt --word mat
    regard explain "The cat sat on the mat" --vectors glove.6B.50d.txt \\
        --mechanism multihead --heads 2 --seed 7
    """
    from regard.worked.example import Example, compute

    if (sentence is None) == (example is None):
        raise RegardError(
            "explain takes a sentence with --vectors FILE, or --example FILE; "
            + ("got both" if sentence is not None else "got neither")
        )
    said: list[str] = []
    if example is not None:
        _refuse(ctx, OF_SENTENCES, "with --example the file says this: set it there")
        subject = Example.load(example)
    else:
        if mechanism != "multihead":
            _refuse(ctx, ("heads", "head"), "only --mechanism multihead has heads")
        if seed is None:
            _refuse(ctx, ("key_width",), "the weights say how wide a key is: it goes with --seed")
        from regard.worked.sentence import from_sentence

        subject, said = from_sentence(
            sentence or "",
            vectors,
            mechanism,
            seed=seed,
            weights=weights,
            heads=heads,
            key_width=key_width,
            positions=positions,
            causal=causal,
            skip_unknown=skip_unknown,
        )
    place, times = find_token(subject.tokens, word) if word is not None else (0, 1)
    if head >= subject.heads:
        raise RegardError(
            f"heads are counted from 0: --head must be below {subject.heads}, got {head}"
        )
    if times > 1 and word == subject.tokens[place]:
        which = f"{word!r} occurs {times} times; this is the one at position {place + 1} "
        said.append(f"{which}({word}#2 is the second).")
    trace = compute(subject)
    if json_to is not None:
        from regard.cli.output import write_json

        write_json(trace.to_json(), json_to)
    if json_to != "-":
        _print(subject, trace, place, head, form, said)


OF_SENTENCES = (
    *("vectors", "mechanism", "seed", "weights", "heads", "key_width", "positions"),
    *("causal", "skip_unknown"),
)
"""Options that make an example of a sentence; a file has its own keys for these."""


def _refuse(ctx: click.Context, names: tuple[str, ...], why: str) -> None:
    """An option that would be ignored is a mistake to be told about."""
    for name in names:
        if ctx.get_parameter_source(name) is click.core.ParameterSource.COMMANDLINE:
            raise RegardError(f"--{name.replace('_', '-')} does not apply here: {why}")


def _print(
    subject: Example, trace: Trace, place: int, head: int, form: str, said: list[str]
) -> None:
    from rich.text import Text

    from regard.views.console import make_console
    from regard.views.steps import print_steps
    from regard.worked.remarks import remarks_on
    from regard.worked.sentence import on_equal_words

    console = make_console()
    if subject.title:
        console.print(Text(visible(subject.title), style="italic"))
    for line in said:
        console.print(Text(visible(line), style="yellow"))
    forms = ("vector", "matrix") if form == "both" else (form,)
    print_steps(trace, place, console, head=head, forms=forms)
    for line in [*on_equal_words(subject, trace, place), *remarks_on(subject, {})]:
        console.print(Text(visible(line), style="yellow"))
