"""Head: the six steps of attention in one head of a real model, on one screen.

Its vectors are long and its tables would be many, so steps 2 to 5 share one table, and vectors
are shortened unless all numbers are wanted. Every number is read from the trace.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.padding import Padding
from rich.text import Text

from regard.text import number_of, visible
from regard.trace import Array
from regard.views.terminal.focus import Focus, around, key_cell, plain_table
from regard.views.terminal.lines import print_heading, print_vectors
from regard.views.terminal.numbers import bar, number, vector
from regard.views.terminal.steps import PROJECTED

MOST_TITLE = 40
LONGEST_BAR = 14
PAIRS = (
    ("scores", "Scores"),
    ("scaled", "Scaled scores"),
    ("weights", "Weights"),
    ("weighted_values", "Weighted values"),
)
"""Steps 2 to 5: a number or a vector for each token."""


@dataclass
class Head(Focus):
    """A focus with the other word of the link, in a layer of a model."""

    layer: int = 0
    to: int = 0
    everything: bool = False
    """Whether vectors are printed in full."""


def print_head(head: Head) -> None:
    """Print the steps."""
    _embedding(head)
    _projections(head)
    _pairs(head)
    _sum(head)


def format_tokens(tokens: list[str], word: int) -> Text:
    """The text's tokens on a line or two, ``word`` marked; of a long text those around it."""
    words = [visible(token) for token in tokens]
    shown = around(word, len(words), MOST_TITLE)
    text = Text("… " if shown[0] else "")
    for j in shown:
        text.append(words[j], style="bold reverse" if j == word else "default").append(" ")
    if len(shown) < len(words):
        text.append(f"… ({len(words)} tokens)")
    text.rstrip()
    return text


def _heading(head: Head, place: int, title: str, formula: str, meaning: str = "") -> None:
    print_heading(head.console, place, title, formula, meaning)


def _vectors(head: Head, rows: list[tuple[str, Array]], style: str = "default") -> None:
    print_vectors(head.console, rows, everything=head.everything, style=style)


def _embedding(head: Head) -> None:
    trace, i = head.trace, head.word
    word = head.words[i]
    if "embedding" not in trace:
        _given(head)
        return
    _heading(
        head,
        0,
        "Vectors",
        trace["embedding"].formula,
        "What the token is, where it stands and which text it belongs to, added and normed.",
    )
    rows = [
        (f"{word}", trace.value("word_vectors")[i]),
        (f"+ position {i}", trace.value("position_vectors")[i]),
        ("+ type 0", trace.value("type_vectors")[i]),
        ("= normed", trace.value("embedding")[i]),
    ]
    if head.layer:
        before = "layer 0" if head.layer == 1 else f"layers 0 to {head.layer - 1}"
        rows.append((f"after {before}", trace.value("input")[i]))
    _vectors(head, rows)
    head.console.print()


def _given(head: Head) -> None:
    """What the layer's attention was given, where that was seen."""
    places = {"input": (head.word, head.words), "memory": (head.to, head.keys)}
    steps = [head.trace[name] for name in places if name in head.trace]
    if not steps:
        return
    formula, meaning = ", ".join(s.formula for s in steps), " ".join(s.meaning for s in steps)
    _heading(head, 0, "Vectors", formula, meaning)
    rows = []
    for step in steps:
        place, words = places[step.name]
        rows.append((f"{step.formula} of {words[place]}", step.value[place]))
    _vectors(head, rows)
    head.console.print()


def _projections(head: Head) -> None:
    trace, i = head.trace, head.word
    formulas = ", ".join(trace[name].formula for name in ("queries", "keys", "values"))
    more = "" if "embedding" in trace else f" {trace['keys'].meaning}"
    _heading(head, 1, "Queries, keys and values", formulas, (PROJECTED + more).strip())
    rows = [(f"q of {head.words[i]}", head.matrix("queries")[i])]
    others = head.rows if head.everything else [head.to]
    for symbol, name in (("k", "keys"), ("v", "values")):
        rows += [(f"{symbol} of {head.keys[j]}", head.matrix(name)[j]) for j in others]
    _vectors(head, rows)
    head.console.print()


def _pairs(head: Head) -> None:
    """Scores, scaled scores, weights and weighted values: a line for each token."""
    for place, (name, title) in enumerate(PAIRS):
        _heading(head, place + 2, title.ljust(len(PAIRS[-1][1])), head.trace[name].formula)
    scores, scaled = (head.matrix(name)[head.word] for name in ("scores", "scaled"))
    products = head.matrix("weighted_values")[head.word]
    allowed = head.matrix("mask")[head.word] if "mask" in head.trace else None
    taken = head.label_width + 3 + len("  2 score  3 scaled  4 weight    ")
    width = min(LONGEST_BAR, max(1, head.console.width - taken))
    room = head.console.width - taken - width - 2
    fifth = [f"5 weight × value ({products.shape[-1]})"] if room > 20 else []
    names = "", "2 score", "3 scaled", "4 weight", ""
    table = plain_table(*names, *fifth, right=(1, 2, 3))
    for j in head.rows:
        masked = "masked" if allowed is not None and not allowed[j] else f"{head.weights[j]:.4f}"
        cells = [number(float(scores[j]), 2), number(float(scaled[j]), 3), masked]
        product = [vector(products[j], room, 3, counted=False)] if fifth else []
        table.add_row(key_cell(head, j), *cells, bar(float(head.weights[j]), width), *product)
    head.console.print(Padding(table, (0, 0, 0, 3), expand=False))
    _rest(head)
    if head.everything:
        _vectors(
            head, [(f"{head.weights[j]:.4f} v of {head.keys[j]}", products[j]) for j in head.rows]
        )
    head.console.print()


def _rest(head: Head) -> None:
    hidden = sorted(set(range(len(head.keys))) - set(head.rows))
    total = f"weights sum to {math.fsum(head.weights):.4f}"
    if hidden:
        rest = (
            f"and {number_of(len(hidden), 'more token')}, together {head.weights[hidden].sum():.4f}"
        )
        total = f"{rest}; {total}"
    head.console.print(Text(f"   {total}", style="dim"))


def _sum(head: Head) -> None:
    trace, i = head.trace, head.word
    _heading(head, 6, "Their sum", trace["context"].formula)
    word = head.words[i]
    _vectors(head, [(f"c of {word}", head.matrix("context")[i])], "bold")
    if "output" not in trace:
        head.console.print()
        return
    heads = trace["weights"].value.shape[0]
    _heading(head, 7, f"With the other {number_of(heads - 1, 'head')}", trace["output"].formula)
    _vectors(head, [(f"y of {word}", trace.value("output")[i])], "bold")
    head.console.print()
