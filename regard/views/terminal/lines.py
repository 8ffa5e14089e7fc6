"""Lines: a step's heading with its formula, and labelled vectors below each other."""

from __future__ import annotations

import textwrap

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from regard.trace import Array
from regard.views.terminal.numbers import decimals, number, vector


def print_heading(
    console: Console, place: int, title: str, formula: str, meaning: str = ""
) -> None:
    """``2  Scores   e[i,j] = q_i · k_j``, and what it means."""
    line = Text(f"{place}  {title}", style="bold cyan").append(f"   {formula}", style="default")
    console.print(line)
    if meaning:
        console.print(Padding(Text(meaning, style="dim"), (0, 0, 0, 3), expand=False))


def print_vectors(
    console: Console,
    rows: list[tuple[str, Array]],
    *,
    everything: bool = False,
    style: str = "default",
) -> None:
    """Labelled vectors, as many numbers of each as fit, or all."""
    wide = max(cell_len(label) for label, _ in rows)
    for label, values in rows:
        start = f"   {label}{' ' * (wide - cell_len(label))} "
        room = max(24, console.width - wide - 4)
        if everything:
            places = decimals(values)
            full = f"[{' '.join(number(float(v), places) for v in values)}]"
            text = f"\n{' ' * (wide + 4)}".join(textwrap.wrap(full, room))
        else:
            text = vector(values, room)
        console.print(Text(start + text, style=style), soft_wrap=True)
