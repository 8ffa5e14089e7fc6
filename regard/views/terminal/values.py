"""Values: every step of a trace, printed with its formula and its numbers, whatever it is of.

Where somebody claims numbers, a row with a wrong one has the claim below it and why it is wrong.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from regard.text import cut, number_of, padded, visible
from regard.trace import Array, Step, Trace
from regard.views.compared import Compared, labels_of, row_label, rows_of
from regard.views.terminal.numbers import decimals, number

MOST_WORD = 9
"""Columns of a word above a number."""
MOST_ROWS = 12
"""Rows of a step that are shown; the others are counted. Those with a wrong claim always are."""


def print_values(
    trace: Trace,
    console: Console,
    *,
    claims: Mapping[str, Compared] | None = None,
    memory: Sequence[str] = (),
    only: Sequence[str] | None = None,
) -> None:
    """Print the steps (``only`` those of these paths); ``memory`` has the words of the keys."""
    shown = [step for step in trace if only is None or step.path in only]
    for i, step in enumerate(shown):
        text = Text(f"{i + 1}  {step.path}", style="bold cyan")
        console.print(text.append(f"   {step.formula}", style="default"))
        if step.meaning:
            console.print(Padding(Text(step.meaning, style="dim"), (0, 0, 0, 3), expand=False))
        _print_rows(trace, step, console, (claims or {}).get(step.path), list(memory))
        console.print()


def _print_rows(
    trace: Trace, step: Step, console: Console, claim: Compared | None, memory: list[str]
) -> None:
    value = np.asarray(step.value)
    if value.dtype == np.bool_:
        value = value.astype(np.int64)
    labels = labels_of(trace, step, memory)
    rows = rows_of(step)
    wrong = {at[:-1] for at in claim.wrong} if claim else set()
    kept = [row for i, row in enumerate(rows) if i < MOST_ROWS or row in wrong]
    named = {row: visible(row_label(labels, row)) for row in kept}
    size = min(max(map(cell_len, named.values()), default=0), console.width // 3)
    places = 0 if value.dtype.kind in "iu" else decimals(value)
    room = console.width - 3 - (size + 1 if size else 0)
    words = _columns(step, labels)
    longest = max((len(number(float(v), places)) for v in value.flat), default=1)
    least = max(longest, min(max(map(cell_len, words), default=0), MOST_WORD))
    if words:
        over = " ".join(padded(cut(word, least), least) for word in words)
        console.print(Text(f"    {padded('', size)}{' ' if size else ''}{cut(over, room)}", "dim"))
    for row in kept:
        bad = {at[-1] for at in claim.wrong if at[:-1] == row} if claim else set()
        line = Text("   ").append(padded(cut(named[row], size), size)).append(" " if size else "")
        line.append_text(_cells(value[row], places, room, bad, "bold green", least))
        console.print(line)
        if claim and bad:
            line = Text(" " * (3 + (size + 1 if size else 0)))
            indent = len(line)
            line.append_text(_cells(claim.claimed[row], places, room - 9, bad, "bold red", least))
            console.print(line.append("  claimed", style="red"))
            for reason in claim.reasons(row):
                why = Text(f"✗ {reason}", style="red")
                console.print(Padding(why, (0, 0, 0, indent), expand=False))
    if len(kept) < len(rows):
        console.print(Text(f"   and {number_of(len(rows) - len(kept), 'more row')}", style="dim"))


def _columns(step: Step, labels: dict[int, list[str]]) -> list[str]:
    """The words above the numbers, where each number is of one."""
    last = len(step.shape) - 1
    return [visible(word) for word in labels[last]] if last in labels else []


def _cells(values: Array, places: int, room: int, bad: set[int], style: str, least: int) -> Text:
    """A row in brackets, as much of it as fits; where nothing is claimed there is a dot."""
    flat = np.atleast_1d(values)
    texts = ["·" if np.isnan(v) else number(float(v), places) for v in flat]
    size = max((*map(len, texts), least))
    fits = max(1, (room - 2) // (size + 1))
    order = list(range(len(texts)))
    tail = f" … {len(texts)} in all]"
    if len(texts) > fits:  # what is wrong must be seen
        fits = max(1, (room - len(tail)) // (size + 1))
        order = sorted(sorted(order, key=lambda i: (i not in bad, i))[:fits])
    line = Text("[")
    for i, place in enumerate(order):
        line.append(" " if i else "")
        line.append(texts[place].rjust(size), style=style if place in bad else "default")
    return line.append(tail if len(order) < len(texts) else "]")
