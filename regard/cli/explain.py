"""``regard explain``: every step of attention for one word, with the real numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from regard.cli.shared.input import read_text
from regard.cli.shared.model import load_any, noted
from regard.cli.shared.numbers import Real, Whole
from regard.cli.shared.output import check_outputs, note_unknown, write_json, write_page
from regard.errors import ModelError, RegardError
from regard.files import check_readable
from regard.text import find_token, visible

if TYPE_CHECKING:
    from regard.inside.explain.model import Explained, Model
    from regard.inside.explain.observed import ObservedModel
    from regard.pieces.sheet import Subject
    from regard.trace import Trace
    from regard.worked.example import Example

DEFAULT = "minilm"


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
@click.option("--compare", metavar="SENTENCE", help="Model: the same head in another sentence.")
@click.option("--all", "everything", is_flag=True, help="Model: every number of every vector.")
@click.option("--whole", is_flag=True, help="Model: follow the word to the prediction.")
@click.option("--parts", is_flag=True, help="Whole: what each head and layer adds to the logit.")
@click.option("--said", metavar="WORD", help="Parts: of this word instead of the likeliest.")
@click.option("--target", metavar="TEXT", help="Whole: what a translator's decoder reads.")
@click.option(
    "--temperature", type=Real(0.01, 100), default=1.0, show_default=True, help="Whole: of softmax."
)
@click.option("--top", type=Whole(1), default=10, show_default=True, help="Whole: words shown.")
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
    word: str | None,
    head: int | None,
    json_to: str | None,
    html_to: str | None,
    form: str | None,
    example: str | None,
    **options: Any,
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
    given = sum(source is not None for source in (sentence, file, example))
    if given != 1:
        got = "none of them" if not given else f"{given} of them"
        raise RegardError(f"explain takes a sentence, --file FILE or --example FILE; got {got}")
    from regard.worked.formats import read_example

    source = None if example is None else read_example(example)
    for named in (options["vectors"], options["weights"]):
        if named is not None:
            check_readable(named)
    check_outputs(json=json_to, html=html_to)
    if example is None:
        sentence = read_text(sentence, file)
    if sentence is not None and not _given(ctx, OF_VECTORS) and options["whole"]:
        _of_whole(ctx, sentence, word, json_to, html_to, options)
        return
    if sentence is not None and not _given(ctx, OF_VECTORS):
        _refuse(ctx, OF_WHOLE, "it goes with --whole")
        _of_model(ctx, sentence, word, head, json_to, html_to, form, options)
        return
    _refuse(ctx, OF_MODELS, "it goes with a model, and here is none")
    said: list[str] = []
    if source is not None:
        from regard.worked.example import Example

        _refuse(ctx, OF_VECTORS, "with --example the file says this: set it there")
        subject = Example.from_file(source)
    else:
        subject, said = _of_vectors(ctx, sentence or "", options)
    _explain(ctx, subject, word, head or 0, json_to, html_to, form or "both", said)


OF_VECTORS = (
    *("vectors", "mechanism", "seed", "weights", "heads", "key_width", "positions"),
    *("causal", "skip_unknown"),
)
"""Options that make an example of a sentence; a file has its own keys for these."""
OF_WHOLE = ("parts", "said", "target", "temperature", "top")
OF_MODELS = ("model", "layer", "to", "compare", "everything", "whole", *OF_WHOLE)


def _of_vectors(
    ctx: click.Context, sentence: str, options: dict[str, Any]
) -> tuple[Example, list[str]]:
    from regard.worked.sentence import from_sentence

    if options["mechanism"] != "multihead":
        _refuse(ctx, ("heads", "head"), "only --mechanism multihead has heads")
    if options["seed"] is None:
        _refuse(ctx, ("key_width",), "the weights say how wide a key is: it goes with --seed")
    return from_sentence(sentence, **{name: options[name] for name in OF_VECTORS})


def _explain(
    ctx: click.Context,
    subject: Example,
    word: str | None,
    head: int,
    json_to: str | None,
    html_to: str | None,
    form: str,
    said: list[str],
) -> None:
    from regard.cli.shared.worked import check_claims, print_claims, print_whole, write_worked
    from regard.worked.stages import compute

    place, times = find_token(subject.tokens, word) if word is not None else (0, 1)
    if head >= subject.heads:
        raise RegardError(
            f"heads are counted from 0: --head must be below {subject.heads}, got {head}"
        )
    if times > 1 and word == subject.tokens[place]:
        which = f"{word!r} occurs {times} times; this is the one at position {place + 1} "
        said.append(f"{which}({word}#2 is the second).")
    report = check_claims(subject)
    trace = compute(subject) if report is None else report.trace
    by_word = _is_by_word(subject, trace)
    if not by_word:
        _refuse(ctx, ("word", "head", "form"), "every step of this example is shown whole")
    if json_to is not None:
        write_json(trace.to_json(), json_to)
    if json_to != "-" and by_word:
        _print(subject, trace, place, head, form, said)
        print_claims(report)
    elif json_to != "-":
        print_whole(subject, trace, report)
    if html_to is not None:
        start = {"head": head, "query": place} if by_word else None
        write_worked(html_to, subject, trace, report, said, start, quietly=json_to == "-")


def _is_by_word(subject: Example, trace: Trace) -> bool:
    """Whether it is self-attention from the vectors on, which is explained word by word."""
    own = subject.dialect.memory == subject.dialect.query
    attends = subject.dialect.family == "attention"
    needed = {"input", "queries", "keys", "context"}
    return own and attends and needed <= {step.name for step in trace}


def _of_model(
    ctx: click.Context,
    sentence: str,
    word: str | None,
    head: int | None,
    json_to: str | None,
    html_to: str | None,
    form: str | None,
    options: dict[str, Any],
) -> None:
    compare = options["compare"]
    if compare is not None:
        _refuse(ctx, ("json_to", "form", "everything"), "--compare shows two sentences in one head")
    if form is not None:
        _refuse(ctx, ("everything",), "--form has its own tables")
    model = _loaded(options["model"])
    first = model.explain(sentence, word, options["to"], options["layer"], head)
    sides = [first]
    if compare is not None:
        sides.append(model.explain(compare, word, options["to"], first.layer, first.head))
        _print_comparison(*sides)
    else:
        if json_to is not None:
            write_json(first.trace.to_json(), json_to)
        if json_to != "-":
            _print_model(first, form, options["everything"])
    _note_unknown(sides)
    if html_to is not None:
        _write_page(html_to, model, sides, quietly=json_to == "-")


def _of_whole(
    ctx: click.Context,
    sentence: str,
    word: str | None,
    json_to: str | None,
    html_to: str | None,
    options: dict[str, Any],
) -> None:
    """The way of a word through all layers, to what the model puts out."""
    _refuse(ctx, ("head", "form", "to"), "--whole follows a word through all heads")
    if options["said"] is not None and not options["parts"]:
        raise RegardError("--said names the word whose logit is split: it goes with --parts")
    model = load_any(options["model"])
    from regard.inside.explain.whole import explain_whole, similarity

    wanted = {name: options[name] for name in OF_WHOLE}
    with noted():
        found = explain_whole(model, sentence, word, **wanted)
        if options["compare"] is not None:
            similarity(model, found, options["compare"])
    layer, layers = options["layer"], found.shape[0]
    if layer is not None and layer >= layers:
        raise RegardError(
            f"layers are counted from 0: {found.model} has {layers}, got --layer {layer}"
        )
    if json_to is not None:
        write_json(found.to_json(), json_to)
    if json_to != "-":
        from regard.views.terminal.console import make_console
        from regard.views.terminal.whole import WholeView, print_whole

        print_whole(WholeView(found, make_console(), layer, options["everything"]))
    if html_to is not None:
        from regard.inside.look.page import subject_of_text
        from regard.inside.whatif.stored import stored_trials

        target = None if found.source is None else found.reading
        with noted():
            subject = subject_of_text(model, found.source or found.reading, target)
            subject.trials = stored_trials(model, found.source or found.reading, options["target"])
        subject.whole, subject.title = found, sentence
        subject.start = {"view": "model"}
        write_page(html_to, subject, quietly=json_to == "-")
    from regard.pieces.unknown import Unknown

    read = [found.reading] if found.source is None else [found.source]
    note_unknown(Unknown(*read), found.model)


def _note_unknown(sides: list[Explained]) -> None:
    from regard.pieces.unknown import Unknown

    note_unknown(Unknown(*(side.reading for side in sides)), sides[0].model)


def _write_page(
    to: str, model: Model | ObservedModel, sides: list[Explained], quietly: bool
) -> None:
    """All layers and heads of the model, opened where the explanation is."""
    subjects = []
    for side in sides:
        start: dict[str, Any] = {"layer": side.layer, "head": side.head, "query": side.token}
        start |= {"key": side.to.start, "view": "compare" if len(sides) > 1 else "sentence"}
        subjects.append(_subject(model, side, start))
    write_page(to, *subjects, quietly=quietly)


def _subject(model: Model | ObservedModel, side: Explained, start: dict[str, Any]) -> Subject:
    from regard.inside.explain.model import Model
    from regard.pieces.unknown import Unknown
    from regard.views.page import subject_of_trace

    if isinstance(model, Model):
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


def _loaded(name: str) -> Model | ObservedModel:
    """On regard's own encoder if it is a BERT model; any other is observed."""
    from regard.inside.explain.model import Model, computes
    from regard.store.shipped import is_own

    try:
        if not is_own(name) and computes(name):
            return Model(name)
    except ModelError as error:
        if name != DEFAULT:
            raise
        raise ModelError(
            f"{error}. Without a model: regard explain --example FILE, or --vectors FILE"
        ) from error
    model = load_any(name, predicts=False)
    from regard.inside.explain.observed import ObservedModel

    return ObservedModel(model)


def _print_model(explained: Explained, form: str | None, everything: bool) -> None:
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


def _given(ctx: click.Context, names: tuple[str, ...]) -> list[str]:
    """Those of the options that stand on the command line, as they are written there."""
    written = {p.name: p.opts[0] for p in ctx.command.params}
    source = click.core.ParameterSource.COMMANDLINE
    return [written[name] for name in names if ctx.get_parameter_source(name) is source]


def _refuse(ctx: click.Context, names: tuple[str, ...], why: str) -> None:
    """An option that would be ignored is a mistake to be told about."""
    for option in _given(ctx, names):
        raise RegardError(f"{option} does not apply here: {why}")


def _print(
    subject: Example, trace: Trace, place: int, head: int, form: str, said: list[str]
) -> None:
    from rich.text import Text

    from regard.views.terminal.console import make_console
    from regard.views.terminal.steps import print_steps
    from regard.worked.remarks import remarks_on
    from regard.worked.sentence import on_equal_words

    console = make_console()
    if subject.title:
        console.print(Text(visible(subject.title), style="italic"))
    for line in said:
        console.print(Text(visible(line), style="yellow"))
    forms = ("vector", "matrix") if form == "both" else (form,)
    print_steps(trace, place, console, head=head, forms=forms)
    for line in [*on_equal_words(subject, trace, place), *remarks_on(subject, trace, {})]:
        console.print(Text(visible(line), style="yellow"))
