"""Whole: the way of one word through a model, on a few screens.

Formulas and sentences stand once; then the first and the last layer (or the one that was asked
for) with their vectors, and all layers in one table of sizes.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from regard.pieces.whole import NEXT, SENTENCE, WholeWay
from regard.text import number_of, quoted, visible
from regard.trace import Array, Step
from regard.views.terminal.focus import plain_table
from regard.views.terminal.head import format_tokens
from regard.views.terminal.numbers import bar, decimals, number, vector
from regard.views.terminal.parts import print_parts
from regard.views.terminal.predictions import print_each, print_predictions

LONGEST_BAR = 12
LAYOUTS = {
    "before": "Each part reads a norm of the vector, and what it finds is added to it.",
    "after": "What each part finds is added to the vector, and the sum is normed.",
    "beside": "Both parts read the same vector, and what they find is added to it.",
}
SYMBOLS = {
    "input": "x",
    "attention_norm": "norm",
    "attention": "+ attention",
    "after_attention": "= x'",
    "cross_attention_norm": "norm",
    "cross_attention": "+ cross-attention",
    "after_cross_attention": "= x''",
    "feed_forward_norm": "norm",
    "feed_forward": "+ feed-forward",
    "hidden": "= handed on",
}


@dataclass
class WholeView:
    """What is printed, and how much of it."""

    whole: WholeWay
    console: Console
    layer: int | None = None
    """The layer that is shown in full; the first and the last if none is named."""
    everything: bool = False
    """Every layer, and every number of every vector."""

    def __post_init__(self) -> None:
        self.number = 0

    def heading(self, title: str, formula: str = "", meaning: str = "") -> None:
        self.number += 1
        line = Text(f"{self.number}  {title}", style="bold cyan")
        self.console.print(line.append(f"   {formula}" if formula else "", style="default"))
        if meaning:
            self.say(meaning)

    def say(self, text: str, style: str = "dim") -> None:
        self.console.print(Padding(Text(text, style=style), (0, 0, 0, 3), expand=False))

    def vectors(self, rows: list[tuple[str, Array]]) -> None:
        """Labelled vectors below each other, as many numbers of each as fit, or all."""
        wide = max(cell_len(label) for label, _ in rows)
        room = max(24, self.console.width - wide - 4)
        for label, values in rows:
            text = vector(values, room)
            if self.everything:
                places = decimals(values)
                full = f"[{' '.join(number(float(v), places) for v in values)}]"
                text = f"\n{' ' * (wide + 4)}".join(textwrap.wrap(full, room))
            start = f"   {label}{' ' * (wide - cell_len(label))} "
            self.console.print(Text(start + text), soft_wrap=True)


def print_whole(view: WholeView) -> None:
    """Print all of it."""
    whole, console = view.whole, view.console
    layers, heads, width = whole.shape
    each = f" of {number_of(heads, 'head')}" if heads else ""
    console.print(
        Text(f"{visible(whole.model)}, {number_of(layers, 'layer')}{each}, {width} wide", "bold")
    )
    if whole.source is not None:
        console.print(format_tokens(whole.source.labels, -1))
    console.print(format_tokens(whole.reading.labels, whole.row))
    console.print(Text(_question(whole), style="italic"))
    console.print()
    _stem(view)
    _layers(view)
    _sizes(view)
    _ending(view)
    if whole.steps:
        _each_step(view)
    if whole.parts is not None:
        print_parts(whole.parts, whole.reading, whole.source, console)
    for note in whole.notes:
        console.print(Text(visible(note), style="yellow"))
    console.print(Text(format_proof(whole), style="bold"))


def _question(whole: WholeWay) -> str:
    token, place = quoted(whole.token), f"token {whole.row + 1} of {len(whole.reading)}"
    ends = {NEXT: "which word comes next", SENTENCE: "what is the sentence's vector"}
    end = ends.get(whole.kind, f"which is the {whole.kind}")
    return f"What becomes of {token} ({place}) on its way, and {end}?"


def _stem(view: WholeView) -> None:
    whole, trace = view.whole, view.whole.trace
    ids = whole.reading.ids
    view.heading("Token", f"w = {ids[whole.row]:,}", "The token's number in the vocabulary.")
    steps = [step for step in trace if step.name.endswith("_vector") and not step.scope]
    for step in steps:
        view.heading(step.name.replace("_", " ").capitalize(), step.formula, step.meaning)
        view.vectors([(step.formula, step.value)])
    if whole.places:
        view.heading("Position", "", f"Not in this vector: {whole.places}.")
    if "embedding" in trace:
        step = trace["embedding"]
        view.heading("Sum", step.formula, step.meaning)
        view.vectors([("x", step.value)])
    view.console.print()


def _steps_of(whole: WholeWay, layer: int) -> list[Step]:
    return [step for step in whole.trace if step.scope == f"layer {layer}"]


def _layers(view: WholeView) -> None:
    whole, layers = view.whole, view.whole.shape[0]
    view.heading(f"{layers} layers" if layers > 1 else "The layer", "", LAYOUTS[whole.layout])
    first = _steps_of(whole, 0)
    wide = max(len(SYMBOLS[step.name]) for step in first)
    for step in first[1:]:
        line = Text(f"{SYMBOLS[step.name]:{wide}}  ").append(step.formula, style="cyan")
        view.console.print(Padding(line, (0, 0, 0, 3), expand=False))
        meaning = Padding(Text(step.meaning, style="dim"), (0, 0, 0, wide + 5), expand=False)
        view.console.print(meaning)
    shown = sorted({0, layers - 1} if view.layer is None else {view.layer})
    for layer in range(layers) if view.everything else shown:
        view.console.print(Text(f"   Layer {layer}", style="bold"))
        view.vectors([(SYMBOLS[s.name], s.value) for s in _steps_of(whole, layer)])
    view.console.print()


def _sizes(view: WholeView) -> None:
    """How long the vectors are: what each part adds, drawn to one scale."""
    whole = view.whole
    kinds = [s.name for s in _steps_of(whole, 0) if s.name in _added()]
    view.heading(
        "Sizes",
        "|x| = sqrt(x_1² + … + x_d²)",
        "How long the vector is, and how long is what each part adds to it.",
    )
    titles = [SYMBOLS[kind].removeprefix("+ ").replace("-attention", "") for kind in kinds]
    columns = [cell for title in titles for cell in (title, "")]
    longest = LONGEST_BAR if len(kinds) < 3 else LONGEST_BAR // 2
    right = (0, 1, *range(2, len(columns) + 2, 2), len(columns) + 2)
    table = plain_table("layer", "|x|", *columns, "handed on", right=right)
    rows = [{s.name: _size(s) for s in _steps_of(whole, i)} for i in range(whole.shape[0])]
    most = max(row[kind] for row in rows for kind in kinds) or 1.0
    for layer, row in enumerate(rows):
        cells: list[str | Text] = []
        for kind in kinds:
            cells += [f"{row[kind]:.2f}", bar(row[kind] / most, longest)]
        table.add_row(str(layer), f"{row['input']:.2f}", *cells, f"{row['hidden']:.2f}")
    view.console.print(Padding(table, (0, 0, 0, 3), expand=False))
    view.console.print()


def _added() -> list[str]:
    return [name for name, symbol in SYMBOLS.items() if symbol.startswith("+")]


def _size(step: Step) -> float:
    return float(np.linalg.norm(step.value))


def _ending(view: WholeView) -> None:
    whole, trace = view.whole, view.whole.trace
    if "last" in trace:
        step = trace["last"]
        view.heading("Last norm", step.formula, step.meaning)
        view.vectors([("x", step.value)])
    if whole.kind == SENTENCE:
        _sentence(view)
    else:
        _predictions(view)
    view.console.print()


def _sentence(view: WholeView) -> None:
    whole = view.whole
    assert whole.sentence is not None
    n = len(whole.reading)
    view.heading(
        "Sentence vector",
        f"s = m / |m|, m = (x_1 + … + x_{n}) / {n}",
        f"The mean of the last vectors of all {number_of(n, 'token')}, brought to length 1.",
    )
    view.vectors([("s", whole.sentence)])
    if whole.other is not None:
        text, cosine = whole.other
        meaning = f"How alike the sentence and {quoted(text)} are to the model: 1 is the same."
        view.heading("Similarity", f"s · s' = {cosine:.4f}", meaning)


def _predictions(view: WholeView) -> None:
    whole = view.whole
    heat = "" if whole.temperature == 1 else f" / {whole.temperature:g}"
    of = "label" if whole.kind == "label" else "word"
    view.heading(
        f"The {whole.kind}",
        f"p(w) = exp(logit_w{heat}) / sum of exp(logit{heat}) over {whole.of:,} {of}s",
        f"The last vector is compared with that of every {of}; the scores become shares of 1.",
    )
    print_predictions(whole.predicted, view.console)


def _each_step(view: WholeView) -> None:
    """What a translator says at each step."""
    whole = view.whole
    meaning = "The likeliest next word after each token that the decoder has read."
    view.heading("Each step", "", meaning)
    print_each(whole.reading.labels, whole.steps, whole.row, view.console)
    view.console.print()


def format_proof(whole: WholeWay) -> str:
    """What was compared with what."""
    proof = whole.proof
    return (
        f"Proof: in every token the {proof.sums} sums above hold (largest difference "
        f"{proof.apart:.0e} of the largest number); added up from the token's vector on, they "
        f"give what the model's own pass gives, in which nothing is recorded: {proof.numbers:,} "
        f"{proof.what}, largest difference {proof.difference:.1e}."
    )
