"""One step of a recurrent model as ``explain`` shows it: loaded, explained, printed, written."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from regard.cli.shared.explainoptions import ExplainOptions
from regard.cli.shared.head import format_texts, print_compared
from regard.cli.shared.model import read_part
from regard.cli.shared.output import note_unknown, write_json, write_page

if TYPE_CHECKING:
    from regard.inside.explain.explained import Explained
    from regard.inside.explain.recurrent import RecurrentModel


def explain_step(sentence: str, options: ExplainOptions) -> None:
    """The step of one word, or with --compare the same word in two sentences."""
    recurrent = f"{options.model} is recurrent: it has no"
    options.refuse("head", "form", why=f"{recurrent} heads or matrices")
    options.refuse("parts", "said", why=f"{recurrent} parts that add up to a score")
    if options.whole:
        options.refuse("layer", "to", why="--whole follows a word through all layers")
        options.refuse("part", why="--whole follows the decoder's word, which looks at the source")
    if options.compare is not None:
        why = "--compare shows two sentences side by side"
        options.refuse("json_to", "html_to", "everything", "whole", why=why)
    model = _loaded(options)
    from regard.inside.explain.stepending import EndingRequest

    asked = EndingRequest(options.temperature, options.top, options.whole)
    explained = partial(model.explain, word=options.word, to=options.to, asked=asked)
    first = explained(sentence, layer=options.layer)
    sides = [first]
    if options.compare is not None:
        sides.append(explained(options.compare, layer=first.layer))
        print_compared(*sides)
    else:
        if options.json_to is not None:
            write_json(first.to_json(), options.json_to)
        if not options.quietly:
            _print(first, options.everything)
    from regard.pieces.unknown import Unknown

    note_unknown(Unknown(*(side.source or side.reading for side in sides)), first.model)
    if options.html_to is not None:
        _write_page(options.html_to, first, options.quietly)


def _loaded(options: ExplainOptions) -> RecurrentModel:
    from regard.inside.explain.design import recurrent_model
    from regard.inside.ownmodel import load_own

    model = load_own(options.model, recurrent=True)
    part = read_part(model, options.part, options.target)
    if model.has_both and options.part is None:
        part = "cross"
    return recurrent_model(model, part, options.target)


def _print(explained: Explained, everything: bool) -> None:
    from rich.text import Text

    from regard.inside.explain import captions
    from regard.pieces.tokenizer import BOS, SPECIAL
    from regard.views.terminal.console import make_console
    from regard.views.terminal.lines import print_heading
    from regard.views.terminal.predictions import print_each
    from regard.views.terminal.recurrentstep import RecurrentStepView, print_recurrent_step

    console = make_console()
    console.print(Text(captions.format_place(explained), style="bold"))
    for line in format_texts(explained):
        console.print(line)
    console.print(Text(captions.format_question(explained), style="italic"))
    console.print(Text(captions.format_choice(explained), style="yellow"))
    console.print()
    view = RecurrentStepView(explained.trace, console, everything, explained.predicted)
    print_recurrent_step(view)
    if explained.each:
        print_heading(console, view.count + 1, "Each step", "", captions.EACH)
        read = [SPECIAL[BOS], *explained.reading.labels[:-1]]
        print_each(read, explained.each, explained.token, console)
        console.print()
    console.print(Text(captions.format_proof(explained), style="bold"))
    console.print(Text(captions.format_limits(explained), style="dim"))


def _write_page(to: str, explained: Explained, quietly: bool) -> None:
    """The attention of all steps, opened at this one, and every value of it below."""
    from regard.inside.explain import captions
    from regard.pieces.unknown import Unknown
    from regard.views.page import subject_of_trace
    from regard.views.page.worked import worked_section

    assert explained.whole is not None
    read = explained.source or explained.reading
    note = Unknown(read).note(explained.model)
    notes, model = [note] if note else [], explained.model
    subject = subject_of_trace(explained.whole, read.text, model=model, notes=notes, text=read)
    sheets = [
        sheet.number if (sheet.kind == "cross") == explained.crosses else None
        for sheet in subject.sheets
    ]
    place = {"layer": sheets.index(explained.layer), "query": explained.token}
    subject.start = place | {"key": explained.to.start, "view": "sentence"}
    said = [captions.format_place(explained), captions.format_proof(explained)]
    below = worked_section(explained.trace, {}, notes=said)
    write_page(to, subject, quietly=quietly, below=below)
