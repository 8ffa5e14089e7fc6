"""One head of a model as ``explain`` shows it: loaded, explained, printed, written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regard.cli.shared.explainoptions import ExplainOptions
from regard.cli.shared.model import load_any
from regard.cli.shared.output import note_unknown, write_json, write_page
from regard.errors import ModelError

if TYPE_CHECKING:
    from regard.inside.explain.computed import ComputedModel
    from regard.inside.explain.explained import Explained
    from regard.inside.explain.observed import ObservedModel
    from regard.pieces.sheet import Subject

DEFAULT = "minilm"


def explain_head(sentence: str, options: ExplainOptions) -> None:
    """The steps of one head, or with --compare the same head in two sentences."""
    compare = options.compare
    if compare is not None:
        why = "--compare shows two sentences in one head"
        options.refuse("json_to", "form", "everything", why=why)
    if options.form is not None:
        options.refuse("everything", why="--form has its own tables")
    model = _loaded(options.model)
    first = model.explain(sentence, options.word, options.to, options.layer, options.head)
    sides = [first]
    if compare is not None:
        sides.append(model.explain(compare, options.word, options.to, first.layer, first.head))
        _print_comparison(*sides)
    else:
        if options.json_to is not None:
            write_json(first.trace.to_json(), options.json_to)
        if not options.quietly:
            _print(first, options.form, options.everything)
    _note_unknown(sides)
    if options.html_to is not None:
        _write_page(options.html_to, model, sides, options.quietly)


def _loaded(name: str) -> ComputedModel | ObservedModel:
    """On regard's own encoder if it is a BERT model; any other is observed."""
    from regard.inside.explain.computed import ComputedModel, computes
    from regard.store.shipped import is_own

    try:
        if not is_own(name) and computes(name):
            return ComputedModel(name)
    except ModelError as error:
        if name != DEFAULT:
            raise
        raise ModelError(
            f"{error}. Without a model: regard explain --example FILE, or --vectors FILE"
        ) from error
    model = load_any(name, predicts=False)
    from regard.inside.explain.observed import ObservedModel

    return ObservedModel(model)


def _print(explained: Explained, form: str | None, everything: bool) -> None:
    from rich.text import Text

    from regard.inside.explain import captions
    from regard.views.terminal.console import make_console
    from regard.views.terminal.head import Head, format_tokens, print_head
    from regard.views.terminal.steps import print_steps

    console = make_console()
    place = explained.token, explained.head
    if form is None:
        head = Head(explained.trace, *place, console, layer=explained.layer, to=explained.to.start)
        head.everything = everything
        console.print(Text(captions.format_place(explained), style="bold"))
        console.print(format_tokens(explained.reading.labels, explained.token))
        console.print(Text(captions.format_question(explained), style="italic"))
        console.print(Text(captions.format_choice(explained), style="yellow"))
        console.print()
        print_head(head)
    else:
        console.print(Text(captions.format_choice(explained), style="yellow"))
        forms = ("vector", "matrix") if form == "both" else (form,)
        print_steps(explained.trace, place[0], console, head=place[1], forms=forms)
    console.print(Text(captions.format_proof(explained), style="bold"))
    console.print(Text(captions.format_limits(explained), style="dim"))


def _print_comparison(first: Explained, second: Explained) -> None:
    from rich.text import Text

    from regard.inside.explain import captions
    from regard.views.terminal.compare import Side, print_comparison
    from regard.views.terminal.console import make_console
    from regard.views.terminal.head import format_tokens

    console = make_console()
    console.print(Text(captions.format_place(first), style="bold"))
    for side in (first, second):
        console.print(format_tokens(side.reading.labels, side.token))
    console.print(Text(captions.format_question(first), style="italic"))
    console.print(Text(captions.format_choice(first), style="yellow"))
    console.print()
    left, right = (Side(e.reading.labels, e.token, e.scaled, e.weights) for e in (first, second))
    print_comparison(left, right, console)
    console.print()
    console.print(Text(captions.format_change(first, second), style="bold"))
    console.print(Text(captions.format_proof(first, second), style="bold"))
    console.print(Text(captions.format_limits(first), style="dim"))


def _note_unknown(sides: list[Explained]) -> None:
    from regard.pieces.unknown import Unknown

    note_unknown(Unknown(*(side.reading for side in sides)), sides[0].model)


def _write_page(
    to: str, model: ComputedModel | ObservedModel, sides: list[Explained], quietly: bool
) -> None:
    """All layers and heads of the model, opened where the explanation is."""
    subjects = []
    for side in sides:
        start: dict[str, Any] = {"layer": side.layer, "head": side.head, "query": side.token}
        start |= {"key": side.to.start, "view": "compare" if len(sides) > 1 else "sentence"}
        subjects.append(_subject(model, side, start))
    write_page(to, *subjects, quietly=quietly)


def _subject(
    model: ComputedModel | ObservedModel, side: Explained, start: dict[str, Any]
) -> Subject:
    from regard.inside.explain.computed import ComputedModel
    from regard.pieces.unknown import Unknown
    from regard.views.page import subject_of_trace

    if isinstance(model, ComputedModel):
        assert side.whole is not None
        note = Unknown(side.reading).note(side.model)
        notes, text = [note] if note else [], side.reading.text
        return subject_of_trace(
            side.whole, text, model=side.model, notes=notes, start=start, text=side.reading
        )
    from regard.inside.look.page import subject_of_text

    subject = subject_of_text(model.model, side.reading)
    subject.start, subject.title = start, side.reading.text
    return subject
