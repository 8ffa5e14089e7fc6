"""A worked example as ``explain`` shows it: word by word where it is self-attention, else whole."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regard.cli.shared.explainoptions import OF_MODELS, OF_VECTORS, ExplainOptions
from regard.cli.shared.output import write_json
from regard.errors import RegardError
from regard.text import find_token, visible

if TYPE_CHECKING:
    from regard.trace import Trace
    from regard.worked.example import Example
    from regard.worked.source import ExampleFile

NO_MODEL = "it goes with a model, and here is none"


def explain_file(source: ExampleFile, options: ExplainOptions) -> None:
    """Matrices from a file."""
    from regard.worked.example import Example

    options.refuse(*OF_MODELS, why=NO_MODEL)
    options.refuse(*OF_VECTORS, why="with --example the file says this: set it there")
    explain_example(Example.from_file(source), options, [])


def explain_vectors(sentence: str, options: ExplainOptions) -> None:
    """A sentence whose words have vectors."""
    from regard.worked.sentence import from_sentence

    options.refuse(*OF_MODELS, why=NO_MODEL)
    if options.of_vectors["mechanism"] != "multihead":
        options.refuse("heads", "head", why="only --mechanism multihead has heads")
    if options.of_vectors["seed"] is None:
        why = "the weights say how wide a key is: it goes with --seed"
        options.refuse("key_width", why=why)
    example, said = from_sentence(sentence, **options.of_vectors)
    explain_example(example, options, said)


def explain_example(example: Example, options: ExplainOptions, said: list[str]) -> None:
    """Every step of the example; what must be ``said`` of it stands above them."""
    from regard.cli.shared.worked import check_claims, print_claims, print_whole, write_worked
    from regard.worked.stages import compute

    place = _place(example, options.word, said)
    head = options.head or 0
    if head >= example.heads:
        raise RegardError(
            f"heads are counted from 0: --head must be below {example.heads}, got {head}"
        )
    report = check_claims(example)
    trace = compute(example) if report is None else report.trace
    by_word = _is_by_word(example, trace)
    if not by_word:
        why = "every step of this example is shown whole"
        options.refuse("word", "head", "form", why=why)
    if options.json_to is not None:
        write_json(trace.to_json(), options.json_to)
    if not options.quietly and by_word:
        _print(example, trace, place, head, options.form or "both", said)
        print_claims(report)
    elif not options.quietly:
        print_whole(example, trace, report)
    if options.html_to is not None:
        start = {"head": head, "query": place} if by_word else None
        quietly = options.quietly
        write_worked(options.html_to, example, trace, report, said, start, quietly=quietly)


def _place(example: Example, word: str | None, said: list[str]) -> int:
    """Where the word stands, the first if there is none; of several which it is is ``said``."""
    if word is None:
        return 0
    place, times = find_token(example.tokens, word)
    if times > 1 and word == example.tokens[place]:
        which = f"{word!r} occurs {times} times; this is the one at position {place + 1} "
        said.append(f"{which}({word}#2 is the second).")
    return place


def _is_by_word(example: Example, trace: Trace) -> bool:
    """Whether it is self-attention from the vectors on, which is explained word by word."""
    own = example.dialect.memory == example.dialect.query
    attends = example.dialect.family == "attention"
    needed = {"input", "queries", "keys", "context"}
    return own and attends and needed <= {step.name for step in trace}


def _print(
    example: Example, trace: Trace, place: int, head: int, form: str, said: list[str]
) -> None:
    from rich.text import Text

    from regard.views.terminal.console import make_console
    from regard.views.terminal.steps import print_steps
    from regard.worked.remarks import remarks_on
    from regard.worked.sentence import on_equal_words

    console = make_console()
    if example.title:
        console.print(Text(visible(example.title), style="italic"))
    for line in said:
        console.print(Text(visible(line), style="yellow"))
    forms = ("vector", "matrix") if form == "both" else (form,)
    print_steps(trace, place, console, head=head, forms=forms)
    for line in [*on_equal_words(example, trace, place), *remarks_on(example, trace, {})]:
        console.print(Text(visible(line), style="yellow"))
