"""``regard translate``: sentences, files and pipes, with the alignment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.input import texts_of
from regard.cli.shared.numbers import Real, Whole
from regard.cli.shared.output import (
    check_outputs,
    check_single,
    note_unknown,
    write_json_lines,
    write_trace_page,
)

if TYPE_CHECKING:
    from regard.models.translators.translation import Translation
    from regard.pieces.unknown import Unknown
    from regard.trace import Trace

INSTEAD = "write in the language that it translates from"


@click.command()
@click.argument("sentences", nargs=-1)
@click.option(
    "--model",
    default="bahdanau",
    show_default=True,
    metavar="NAME|FOLDER",
    help="A model that comes with regard, or a run folder of your own.",
)
@click.option("--file", metavar="FILE", help="Translate its lines; - is standard input.")
@click.option(
    "--beam",
    type=Whole(1),
    default=5,
    show_default=True,
    help="Hypotheses kept; 1 is greedy.",
)
@click.option("--length-penalty", type=Real(0), default=1.0, show_default=True)
@click.option(
    "--batch",
    type=Whole(1),
    default=64,
    show_default=True,
    help="Sentences at a time; changes no result.",
)
@click.option("--alignment", is_flag=True, help="Show what each word looked at.")
@click.option("--pieces", is_flag=True, help="Tokens as the model sees them, not words.")
@click.option("--layer", type=Whole(0), help="Transformer: this layer's cross-attention, from 0.")
@click.option("--head", type=Whole(0), help="Transformer: this head's, from 0; else their mean.")
@click.option("--json", "json_to", metavar="FILE|-", help="One JSON object a sentence.")
@click.option(
    "--html", "html_to", metavar="FILE", help="A page of one sentence ('regard docs page')."
)
@click.option("--trace", "trace_to", metavar="FILE", help="Every step of one sentence, as JSON.")
def translate(
    sentences: tuple[str, ...],
    model: str,
    file: str | None,
    alignment: bool,
    pieces: bool,
    json_to: str | None,
    html_to: str | None,
    trace_to: str | None,
    **search: Any,
) -> None:
    """Translate SENTENCES, the lines of a file, or what is piped in.

    The models that come with regard translate German to English.

    \b
    regard translate "Können Sie mir helfen, diesen Satz zu übersetzen?" --alignment
    regard translate --model transformer --file german.txt > english.txt
    """
    texts = texts_of(sentences, file, "translate")
    check_single(len(texts), trace=trace_to, html=html_to)
    check_outputs(json=json_to, html=html_to, trace=trace_to)
    from regard.store.shipped import find_folder

    folder = find_folder(model, "translate")  # refused, if it must be, before torch is imported
    from regard.models.translators.translation import trace_of, translate_texts
    from regard.pieces.unknown import Unknown
    from regard.store.folder import load_translator

    translator, tokens = load_translator(folder)
    found = translate_texts(translator, tokens, texts, words=not pieces, **search)
    unknown = Unknown()
    found = _counted(found, unknown)
    trace: Trace | None = None
    if trace_to is not None or html_to is not None:
        only = list(found)
        trace = trace_of(translator, tokens, only[0])
        found = iter(only)
    if trace is not None and trace_to is not None:
        trace.save(trace_to)
    if json_to is not None:
        lines = (json.dumps(one.to_dict(), ensure_ascii=False) for one in found)
        write_json_lines(lines, json_to)
    else:
        _print(found, texts, alignment)
    what = "alphabet" if tokens.spells else "vocabulary"
    note_unknown(unknown, model, what=what, instead=INSTEAD)
    if trace is not None and html_to is not None:
        write_trace_page(html_to, trace, texts[0], model, only[0].read, json_to == "-")


def _counted(found: Iterator[Translation], unknown: Unknown) -> Iterator[Translation]:
    """The same, with what could not be read of each sentence added to ``unknown``."""
    for translation in found:
        unknown.add(translation.read)
        yield translation


def _print(found: Iterator[Translation], texts: Sequence[str], alignment: bool) -> None:
    from regard.text import visible
    from regard.views.terminal.alignment import print_alignment
    from regard.views.terminal.console import make_console

    console = make_console()
    for i, translation in enumerate(found):
        click.echo(visible(translation.text))
        if alignment and len(translation.target):
            print_alignment(translation.source, translation.target, translation.alignment, console)
            if i < len(texts) - 1:
                click.echo()
