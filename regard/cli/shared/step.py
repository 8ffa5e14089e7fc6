"""One step of a recurrent model as ``explain`` shows it: loaded, explained, printed, written."""

from __future__ import annotations

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
    options.refuse("head", "form", why=f"{options.model} is recurrent: it has no heads or matrices")
    if options.compare is not None:
        why = "--compare shows two sentences side by side"
        options.refuse("json_to", "html_to", "everything", why=why)
    model = _loaded(options)
    first = model.explain(sentence, options.word, options.to, options.layer)
    sides = [first]
    if options.compare is not None:
        sides.append(model.explain(options.compare, options.word, options.to, first.layer))
        print_compared(*sides)
    else:
        if options.json_to is not None:
            write_json(first.trace.to_json(), options.json_to)
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
    from regard.views.terminal.console import make_console
    from regard.views.terminal.recurrentstep import RecurrentStepView, print_recurrent_step

    console = make_console()
    console.print(Text(captions.format_place(explained), style="bold"))
    for line in format_texts(explained):
        console.print(line)
    console.print(Text(captions.format_question(explained), style="italic"))
    console.print(Text(captions.format_choice(explained), style="yellow"))
    console.print()
    print_recurrent_step(RecurrentStepView(explained.trace, console, everything))
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
