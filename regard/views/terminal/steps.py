"""Steps: attention for one word, printed from a trace: the six steps, then what the heads add.

Each step has its formula and one plain sentence, then its vector form (this word against every
other) and its matrix form (all words at once) where it has one: the weighted values have a vector
for each pair of words, so only this word's are shown. Every number is read from the trace.
"""

from __future__ import annotations

import numpy as np
from rich.cells import cell_len
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.style import Style
from rich.table import Table
from rich.text import Text

from regard.text import number_of
from regard.trace import Array, Step, Trace
from regard.views.terminal.focus import Focus, around, key_cell, plain_table, word_cell
from regard.views.terminal.numbers import bar, colour, decimals, number, vector

MOST_ROWS = 8
MOST_TITLE = 40
TITLES = {
    "simple": "Simple self-attention (no weight matrices)",
    "dot": "Dot-product self-attention",
    "scaled": "Scaled dot-product self-attention",
    "multihead": "Multi-head self-attention",
}
PROJECTED = "What each word looks for (query), can be found by (key) and hands over (value)."


def print_steps(
    trace: Trace,
    word: int,
    console: Console,
    *,
    head: int = 0,
    forms: tuple[str, ...] = ("vector", "matrix"),
) -> None:
    """Print the explanation of ``word`` (its position) in ``head``."""
    focus = Focus(trace, word, head, console, forms)
    console.print(_title(focus))
    console.print()
    _vectors(focus)
    _projections(focus)
    _pairs(focus, 2, "scores", "Scores")
    if "scaled" in trace:
        _pairs(focus, 3, "scaled", "Scaled scores")
    else:
        _absent(focus, 3, "Scaled scores", "This mechanism does not scale its scores.")
    if "mask" in trace:
        _mask(focus)
    _weights(focus)
    if "vector" in forms:
        _weighted(focus)
    _sum(focus)
    if "concatenated" in trace:
        _heads(focus)
    if "output" in trace:
        _output(focus)


def _title(focus: Focus) -> Text:
    mechanism = focus.trace.mechanism
    text = Text(TITLES.get(mechanism, mechanism), style="bold")
    if "concatenated" in focus.trace:
        heads = focus.trace["weights"].value.shape[0]
        text.append(f", head {focus.head} of {heads} (from 0)", style="default")
    text.append("\n")
    shown = around(focus.word, len(focus.words), MOST_TITLE)
    text.append("… " if shown[0] else "")
    for j in shown:
        style = "bold reverse" if j == focus.word else "default"
        text.append(focus.words[j], style=style).append(" ")
    if len(shown) < len(focus.words):
        text.append(f"… ({len(focus.words)} words)", style="default")
    text.rstrip()
    question = f"What does {focus.words[focus.word]!r} take from each word"
    text.append(f"\n{question}{' of the source' if focus.crosses else ''}?", style="italic")
    return text


def _heading(focus: Focus, number: int | str, title: str, step: Step, meaning: str = "") -> None:
    text = Text(f"{number}  {title}", style="bold cyan")
    focus.console.print(text.append(f"   {step.formula}", style="default"))
    sentence = Text(meaning or step.meaning, style="dim")
    focus.console.print(Padding(sentence, (0, 0, 0, 3), expand=False))


def _absent(focus: Focus, number: int, title: str, why: str) -> None:
    focus.console.print(Text(f"{number}  {title}", style="bold cyan").append(f"   {why}", "dim"))
    focus.console.print()


def _vectors(focus: Focus) -> None:
    trace = focus.trace
    if "input" not in trace:  # it was not seen, as of attention whose module is given more
        return
    _heading(focus, 0, "Vectors", trace["input"])
    if "positions" in trace:
        for name, sign in (("embedding", " "), ("positions", "+"), ("input", "=")):
            value = trace.value(name)[focus.word]
            line = f"   {sign} {vector(value, focus.console.width - 18)}  {name}"
            focus.console.print(Text(line))
    elif "vector" in focus.forms:
        _line(focus, "x", trace.value("input"))
    _show(focus, "matrix", _matrix(focus, trace.value("input")), "X")
    focus.console.print()


def _line(focus: Focus, symbol: str, matrix: Array, style: str = "default") -> None:
    """``q of it = […]``: the chosen word's row of a matrix."""
    label = f"   {symbol} of {focus.words[focus.word]} = "
    room = max(24, focus.console.width - cell_len(label))
    focus.console.print(Text(label + vector(matrix[focus.word], room), style=style))


def _projections(focus: Focus) -> None:
    trace, half = focus.trace, (focus.room - 4) // 2
    _heading(focus, 1, "Queries, keys and values", trace["queries"], PROJECTED)
    if "vector" in focus.forms:
        _line(focus, "q", focus.matrix("queries"))
    keys, values = focus.matrix("keys"), focus.matrix("values")
    table = plain_table("word", trace["keys"].formula, trace["values"].formula)
    for j in focus.rows:
        table.add_row(
            key_cell(focus, j),
            vector(keys[j], half, decimals(keys)),
            vector(values[j], half, decimals(values)),
        )
    _show(focus, "vector", table, None)
    for name in ("queries", "keys", "values"):
        value = focus.matrix(name)
        made = _matrix(focus, value, of_keys=name != "queries")
        _show(focus, "matrix", made, f"{trace[name].formula}   {_size(value)}")
    focus.console.print()


def _pairs(focus: Focus, number_: int, name: str, title: str) -> None:
    """A number for each pair of words: scores, scaled scores."""
    _heading(focus, number_, title, focus.trace[name])
    value = focus.matrix(name)
    places = decimals(value[focus.word])
    table = plain_table("word", f"{name} of {focus.words[focus.word]}", right=(1,))
    for j in focus.rows:
        table.add_row(key_cell(focus, j), number(float(value[focus.word, j]), places))
    _show(focus, "vector", table, None)
    symbol = "E = Q Kᵀ" if name == "scores" else focus.trace[name].formula.replace("e[i,j]", "E")
    _show(focus, "matrix", _matrix(focus, value, columns=focus.keys), f"{symbol}   {_size(value)}")
    focus.console.print()


def _weights(focus: Focus) -> None:
    trace, weights = focus.trace, focus.weights
    _heading(focus, 4, "Weights", trace["weights"])
    allowed = np.ones(len(weights), dtype=bool)
    if "mask" in trace:
        allowed = np.broadcast_to(focus.matrix("mask"), trace.value("weights").shape[-2:])[
            focus.word
        ]
    table = plain_table("word", "weight", "", right=(1,))
    width = max(8, min(40, focus.room - 14))
    for j in focus.rows:
        share = bar(float(weights[j]), width) if allowed[j] else Text("masked", style="dim")
        table.add_row(key_cell(focus, j), f"{weights[j]:.4f}", share)
    _show(focus, "vector", table, None)
    hidden = sorted(set(range(len(weights))) - set(focus.rows))
    if hidden:
        rest = f"   and {number_of(len(hidden), 'more word')}, together {weights[hidden].sum():.4f}"
        focus.console.print(Text(rest, style="dim"))
    value = focus.matrix("weights")
    shaded = _matrix(focus, value, columns=focus.keys, shade=True)
    title = "A = softmax(E) over the allowed keys" if "mask" in trace else "A = softmax(E)"
    _show(focus, "matrix", shaded, f"{title}, a row sums to 1   {_size(value)}")
    focus.console.print()


def _mask(focus: Focus) -> None:
    """The scores that are left: -inf where the word may not look."""
    trace = focus.trace
    _heading(focus, "3b", "Mask", trace["mask"])
    name = "scaled" if "scaled" in trace else "scores"
    scores = focus.matrix(name)
    masked = np.where(np.broadcast_to(focus.matrix("mask"), scores.shape), scores, -np.inf)
    places = decimals(masked[focus.word])
    table = plain_table("word", "score after masking", right=(1,))
    for j in focus.rows:
        table.add_row(key_cell(focus, j), number(float(masked[focus.word, j]), places))
    _show(focus, "vector", table, None)
    shown = _matrix(focus, masked, columns=focus.keys)
    _show(focus, "matrix", shown, f"E = -inf where i may not attend to j   {_size(masked)}")
    focus.console.print()


def _weighted(focus: Focus) -> None:
    _heading(focus, 5, "Weighted values", focus.trace["weighted_values"])
    value = focus.matrix("weighted_values")[focus.word]
    table = plain_table("word", "weight × value")
    for j in focus.rows:
        table.add_row(key_cell(focus, j), vector(value[j], focus.room - 4, decimals(value)))
    _show(focus, "vector", table, None)
    focus.console.print()


def _sum(focus: Focus) -> None:
    _heading(focus, 6, "Their sum", focus.trace["context"])
    value = focus.matrix("context")
    if "vector" in focus.forms:
        _line(focus, "c", value, "bold")
    _show(focus, "matrix", _matrix(focus, value), f"C = A V   {_size(value)}")
    focus.console.print()


def _heads(focus: Focus) -> None:
    """What each head looked at, and their results side by side."""
    trace = focus.trace
    _heading(focus, 7, "All heads, side by side", trace["concatenated"])
    weights, context = trace.value("weights"), trace.value("context")
    table = plain_table("head", "most to", "weight", "context", right=(2,))
    for h in range(len(weights)):
        j = int(weights[h, focus.word].argmax())
        table.add_row(
            Text(str(h), style="bold" if h == focus.head else "default"),
            Text(focus.keys[j]),
            f"{weights[h, focus.word, j]:.4f}",
            vector(context[h, focus.word], focus.console.width - 32),
        )
    _show(focus, "vector", table, None)
    value = trace.value("concatenated")
    if "vector" in focus.forms:
        _line(focus, "c", value)
    _show(focus, "matrix", _matrix(focus, value), f"C = [C_1 … C_h]   {_size(value)}")
    focus.console.print()


def _output(focus: Focus) -> None:
    _heading(focus, 8, "Output", focus.trace["output"])
    value = focus.trace.value("output")
    if "vector" in focus.forms:
        _line(focus, "y", value, "bold")
    _show(focus, "matrix", _matrix(focus, value), f"Y = [C_1 … C_h] W_O   {_size(value)}")
    focus.console.print()


def _show(focus: Focus, form: str, what: RenderableType, title: str | None) -> None:
    if form not in focus.forms:
        return
    if title is not None:
        focus.console.print(Text(f"   Matrix form: {title}", style="dim"))
    focus.console.print(Padding(what, (0, 0, 0, 3), expand=False))


def _matrix(
    focus: Focus,
    value: Array,
    *,
    columns: list[str] | None = None,
    shade: bool = False,
    of_keys: bool = False,
) -> RenderableType:
    """A matrix with a row for each word, as much of it as fits; the chosen row stands out."""
    label = key_cell if of_keys else word_cell
    centre = int(focus.weights.argmax()) if of_keys and focus.crosses else focus.word
    shown = around(centre, len(value), MOST_ROWS)
    places = min(3, decimals(value)) if columns else decimals(value)
    if columns is None:
        table = plain_table("", "")
        table.show_header = False
        for i in shown:
            table.add_row(label(focus, i), vector(value[i], focus.room - 2, places))
        return table
    size = max(6, *(len(number(float(v), places)) for v in value[shown].flat)) + 1
    fits = max(1, (focus.room - 2) // (size + 1))
    across = around(int(focus.weights.argmax()), len(columns), fits)
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    table.add_column("", no_wrap=True)
    for j in across:
        head = Text(columns[j])
        head.truncate(size, overflow="ellipsis")
        table.add_column(head, justify="right", width=size, no_wrap=True)
    for i in shown:
        cells = [_cell(float(value[i, j]), places, shade) for j in across]
        table.add_row(label(focus, i), *cells)
    return table


def _cell(value: float, places: int, shade: bool) -> Text:
    if not shade:
        return Text(number(value, places))
    r, g, b = colour(value)
    ink = "black" if value > 0.5 else "white"
    back = f"rgb({r},{g},{b})" if value > 0.02 else None
    return Text(number(value, places), style=Style(color=ink if back else None, bgcolor=back))


def _size(value: Array) -> str:
    return f"({' × '.join(map(str, value.shape))})"
