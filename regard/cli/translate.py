"""``regard translate``: sentences, files and pipes, with the alignment."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.decoding import check_sampling, decoding_options, sampling_of
from regard.cli.shared.input import texts_of
from regard.cli.shared.numbers import Real, Whole
from regard.cli.shared.output import (
    check_outputs,
    check_single,
    note_unknown,
    say_written,
    write_json_lines,
    write_trace_page,
)
from regard.cli.shared.together import check_together, translate_together
from regard.errors import RegardError

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
@click.option(
    "--with",
    "beside",
    multiple=True,
    metavar="NAME|FOLDER",
    help="Another that proposes too, and all judge; may be repeated.",
)
@click.option("--file", metavar="FILE", help="Translate its lines; - is standard input.")
@click.option(
    "--beam",
    type=Whole(1),
    default=5,
    show_default=True,
    help="Hypotheses kept; 1 is greedy.",
)
@click.option("--length-penalty", type=Real(0, 20), default=1.0, show_default=True)
@click.option(
    "--batch",
    type=Whole(1),
    default=64,
    show_default=True,
    help="Sentences at a time; changes no result.",
)
@decoding_options
@click.option("--alignment", is_flag=True, help="Show what each word looked at.")
@click.option("--pieces", is_flag=True, help="Tokens as the model sees them, not words.")
@click.option("--layer", type=Whole(0), help="Transformer: this layer's cross-attention, from 0.")
@click.option("--head", type=Whole(0), help="Transformer: this head's, from 0; else their mean.")
@click.option("--json", "json_to", metavar="FILE|-", help="One JSON object a sentence.")
@click.option(
    "--html", "html_to", metavar="FILE", help="A page of one sentence ('regard docs page')."
)
@click.option("--png", metavar="FILE", help="A picture of the alignment of one sentence.")
@click.option("--svg", metavar="FILE", help="The same; its text stays text.")
@click.option("--trace", "trace_to", metavar="FILE", help="Every step of one sentence, as JSON.")
def translate(
    sentences: tuple[str, ...],
    model: str,
    beside: tuple[str, ...],
    file: str | None,
    alignment: bool,
    pieces: bool,
    json_to: str | None,
    html_to: str | None,
    png: str | None,
    svg: str | None,
    trace_to: str | None,
    n_best: int,
    beam: int,
    sample: bool,
    temperature: float | None,
    top_p: float | None,
    seed: int | None,
    **search: Any,
) -> None:
    """Translate SENTENCES, the lines of a file, or what is piped in.

    The models that come with regard translate German to English; english-german the other way.

    \b
    regard translate "Können Sie mir helfen, diesen Satz zu übersetzen?" --alignment
    regard translate --model transformer --file german.txt > english.txt
    regard translate "Das ist schade." --n-best 3
    regard translate --with transformer "Das ist schade."
    regard translate --model english-german "Can you help me?"
    """
    texts = texts_of(sentences, file, "translate")
    drawn = {"temperature": temperature, "top_p": top_p, "seed": seed}
    check_sampling(sample, **drawn)
    search["beam"] = _beam(beam, n_best, sample)
    check_single(len(texts), trace=trace_to, html=html_to, png=png, svg=svg)
    check_outputs(file, json=json_to, html=html_to, trace=trace_to, png=png, svg=svg)
    if (trace_to or html_to) and not texts[0].strip():
        raise RegardError("there is no word in the sentence: nothing of it can be shown")
    if beside:
        one = {"html": html_to, "png": png, "svg": svg, "trace": trace_to, "sample": sample}
        layer, head = search.pop("layer"), search.pop("head")
        check_together(**one, alignment=alignment, pieces=pieces, layer=layer, head=head)
        translate_together((model, *beside), texts, n_best, json_to, INSTEAD, **search)
        return
    if png or svg:
        from regard.views.picture.file import check_picture

        check_picture()
    from regard.store.shipped import find_folder

    folder = find_folder(model, "translate")  # refused, if it must be, before torch is imported
    from regard.models.translators.translation import n_best_texts, trace_of
    from regard.pieces.unknown import Unknown
    from regard.store.folder import load_translator

    translator, tokens = load_translator(folder)
    search |= {"best": n_best, "sampling": sampling_of(sample, **drawn), "words": not pieces}
    found = n_best_texts(translator, tokens, texts, **search)
    unknown = Unknown()
    found = _counted(found, unknown)
    trace: Trace | None = None
    if any((trace_to, html_to, png, svg)):
        only = list(found)
        found = iter(only)
        if trace_to is not None or html_to is not None:
            trace = trace_of(translator, tokens, only[0][0])
    if trace is not None and trace_to is not None:
        trace.save(trace_to)
    if json_to is not None:
        lines = (json.dumps(_as_dict(best, n_best), ensure_ascii=False) for best in found)
        write_json_lines(lines, json_to)
    else:
        _print(found, texts, alignment, scored=n_best > 1)
    what = "alphabet" if tokens.spells else "vocabulary"
    note_unknown(unknown, model, what=what, instead=INSTEAD)
    if trace is not None and html_to is not None:
        first, quietly = only[0][0], json_to == "-"
        write_trace_page(html_to, trace, texts[0], model, first.read, quietly, notes=_notes(first))
    if png or svg:
        _draw(only[0][0], {"png": png, "svg": svg})
        say_written(png, svg, quietly=json_to == "-")


def _notes(found: Translation) -> list[str]:
    """What stands at the top of the page."""
    from regard.views.terminal.alignment import copies_line

    return [] if found.copies is None else [copies_line(found.target, found.copies)]


def _draw(found: Translation, pictures: dict[str, str | None]) -> None:
    """Write the pictures that were asked for."""
    from regard.views.picture.alignment import save_alignment

    for kind, path in pictures.items():
        if path is not None:
            save_alignment(found.source, found.target, found.alignment, found.copies, path, kind)


def _beam(beam: int, n_best: int, sample: bool) -> int:
    """How many hypotheses to keep; as many as are wanted, if the user leaves it open."""
    source = click.get_current_context().get_parameter_source("beam")
    given = source is click.core.ParameterSource.COMMANDLINE
    if given and sample:
        raise RegardError("--beam searches and --sample draws: give one of them")
    if given and n_best > beam:
        raise RegardError(
            f"--n-best {n_best} needs as many hypotheses: --beam {n_best} or more, got {beam}"
        )
    return max(beam, n_best)


def _counted(found: Iterator[list[Translation]], unknown: Unknown) -> Iterator[list[Translation]]:
    """The same, with what could not be read of each sentence added to ``unknown``."""
    for best in found:
        unknown.add(best[0].read)
        yield best


def _as_dict(best: Sequence[Translation], wanted: int) -> dict[str, Any]:
    """The first translation of a sentence; if several are wanted, with all of them."""
    several = {"n_best": [{"score": round(t.score, 6), **t.to_dict()} for t in best]}
    return best[0].to_dict() | (several if wanted > 1 else {})


def _print(
    found: Iterator[list[Translation]], texts: Sequence[str], alignment: bool, scored: bool
) -> None:
    """One translation a line; of several, each behind its score, and a line between sentences."""
    from regard.text import visible
    from regard.views.terminal.alignment import print_alignment, print_copies
    from regard.views.terminal.console import make_console

    console = make_console()
    for i, best in enumerate(found):
        for one in best:
            click.echo((f"{one.score:7.3f}  " if scored else "") + visible(one.text))
            if alignment and len(one.target):
                print_alignment(one.source, one.target, one.alignment, console)
                if one.copies is not None:
                    click.echo()
                    print_copies(one.source, one.target, one.copies, console)
        if (scored or (alignment and len(best[0].target))) and i < len(texts) - 1:
            click.echo()
