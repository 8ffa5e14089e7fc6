"""One head of a model as ``explain`` shows it: loaded, explained, printed, written."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regard.cli.shared.explainoptions import ExplainOptions
from regard.cli.shared.model import load_any, read_part
from regard.cli.shared.output import note_unknown, write_json, write_page
from regard.errors import ModelError

if TYPE_CHECKING:
    from rich.text import Text

    from regard.inside.explain.computed import ComputedModel
    from regard.inside.explain.explained import Explained
    from regard.inside.explain.observed import ObservedModel
    from regard.pieces.sheet import Subject
    from regard.views.terminal.compare import Side

DEFAULT = "minilm"


def explain_head(sentence: str, options: ExplainOptions) -> None:
    """The steps of one head, or with --compare the same head in two sentences."""
    compare = options.compare
    if compare is not None:
        why = "--compare shows two sentences in one head"
        options.refuse("json_to", "form", "everything", why=why)
    if options.form is not None:
        options.refuse("everything", why="--form has its own tables")
    model = _loaded(options)
    first = model.explain(sentence, options.word, options.to, options.layer, options.head)
    sides = [first]
    if compare is not None:
        sides.append(model.explain(compare, options.word, options.to, first.layer, first.head))
        print_compared(*sides)
    else:
        if options.json_to is not None:
            write_json(first.trace.to_json(), options.json_to)
        if not options.quietly:
            _print(first, options.form, options.everything)
    _note_unknown(sides)
    if options.html_to is not None:
        _write_page(options.html_to, model, sides, options.quietly)


def _loaded(options: ExplainOptions) -> ComputedModel | ObservedModel:
    """On regard's own encoder if it is a BERT model; any other is observed."""
    name = options.model
    from regard.inside.explain.computed import ComputedModel, computes
    from regard.store.shipped import is_own

    try:
        if not is_own(name) and computes(name):
            why = f"it is for models with an encoder and a decoder, not {name}"
            options.refuse("part", "target", why=why)
            return ComputedModel(name)
    except ModelError as error:
        if name != DEFAULT:
            raise
        raise ModelError(
            f"{error}. Without a model: regard explain --example FILE, or --vectors FILE"
        ) from error
    model = load_any(name, predicts=False)
    from regard.inside.explain.observed import ObservedModel

    part = read_part(model, options.part, options.target)
    return ObservedModel(model, part, options.target)


def _print(explained: Explained, form: str | None, everything: bool) -> None:
    from rich.text import Text

    from regard.inside.explain import captions
    from regard.views.terminal.console import make_console
    from regard.views.terminal.head import Head, print_head
    from regard.views.terminal.steps import print_steps

    console = make_console()
    place = explained.token, explained.head
    if form is None:
        head = Head(explained.trace, *place, console, layer=explained.layer, to=explained.to.start)
        head.everything = everything
        console.print(Text(captions.format_place(explained), style="bold"))
        for line in format_texts(explained):
            console.print(line)
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


def print_compared(first: Explained, second: Explained) -> None:
    from rich.text import Text

    from regard.inside.explain import captions
    from regard.views.terminal.compare import print_comparison
    from regard.views.terminal.console import make_console

    console = make_console()
    console.print(Text(captions.format_place(first), style="bold"))
    for line in (*format_texts(first), *format_texts(second)):
        console.print(line)
    console.print(Text(captions.format_question(first), style="italic"))
    console.print(Text(captions.format_choice(first), style="yellow"))
    console.print()
    print_comparison(_side(first), _side(second), console)
    console.print()
    console.print(Text(captions.format_change(first, second), style="bold"))
    for said in captions.format_predicted(first, second):
        console.print(Text(said))
    console.print(Text(captions.format_proof(first, second), style="bold"))
    console.print(Text(captions.format_limits(first), style="dim"))


def format_texts(explained: Explained) -> list[Text]:
    """The tokens of what attends, and of what is attended to where that is another text."""
    from rich.text import Text

    from regard.inside.explain import captions
    from regard.views.terminal.head import format_tokens

    lines = [format_tokens(explained.reading.labels, explained.token)]
    if explained.crosses:
        lines.insert(0, format_tokens(explained.keys.labels, explained.to.start))
    said = captions.format_decoding(explained)
    return [*lines, Text(said, style="dim")] if said else lines


def _side(explained: Explained) -> Side:
    """What the other sentence is put beside."""
    from regard.views.terminal.compare import Side

    word = None if explained.crosses else explained.token
    return Side(explained.keys.labels, word, explained.scaled, explained.weights)


def _note_unknown(sides: list[Explained]) -> None:
    from regard.pieces.unknown import Unknown

    read = (side.source or side.reading for side in sides)
    note_unknown(Unknown(*read), sides[0].model)


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
    from regard.inside.observe.places import is_of

    read, target = (side.reading, None) if side.source is None else (side.source, side.reading)
    subject = subject_of_text(model.model, read, target)
    layers = [
        sheet.number if is_of(side.part, sheet.kind, sheet.part) else None
        for sheet in subject.sheets
    ]
    subject.start, subject.title = start | {"layer": layers.index(side.layer)}, read.text
    return subject
