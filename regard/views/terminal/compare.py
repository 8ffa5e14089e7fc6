"""Compare: what one word gives to each token in two sentences, side by side, in one head."""

from __future__ import annotations

import math
from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.text import Text

from regard.text import aligned, visible
from regard.trace import Array
from regard.views.terminal.focus import MOST_WORDS, plain_table
from regard.views.terminal.numbers import bar, number

LONGEST_BAR = 12
LONGEST_WORD = 12
NARROW = 64
"""Columns below which the scores are left out."""


@dataclass(frozen=True)
class Side:
    """One sentence: its tokens, and the row of the word that is looked at."""

    tokens: list[str]
    """Those that are attended to."""
    word: int | None
    """The place of the word among them, unless it stands in another text."""
    scaled: Array
    """NaN where nothing is scored."""
    weights: Array


def print_comparison(first: Side, second: Side, console: Console) -> None:
    """A line for each token; tokens that both sentences have stand beside each other."""
    pairs = aligned(first.tokens, second.tokens)
    shown = _strongest(first, second, pairs)
    both = [*first.tokens, *second.tokens]
    word = min(max(cell_len(visible(t)) for t in both), LONGEST_WORD, console.width // 8)
    scored = console.width >= NARROW
    taken = word + (16 if scored else 9)
    width = max(1, min(LONGEST_BAR, (console.width - 3 - 6) // 2 - taken))
    names = ["", *["scaled"] * scored, "weight", ""]
    right = [i for i, name in enumerate([*names, *names, "change"]) if name]
    table = plain_table(*names, *names, "change", right=tuple(right))
    table.padding = (0, 1, 0, 0)
    for i, j in shown:
        cells = _cells(first, i, word, width, scored), _cells(second, j, word, width, scored)
        table.add_row(*cells[0], *cells[1], _change(first, second, i, j))
    console.print(Padding(table, (0, 0, 0, 3), expand=False))
    if len(shown) < len(pairs):
        rest = f"   and {len(pairs) - len(shown)} more, each with less weight in both"
        console.print(Text(rest, style="dim"))


def _strongest(
    first: Side, second: Side, pairs: list[tuple[int | None, int | None]]
) -> list[tuple[int | None, int | None]]:
    def most(pair: tuple[int | None, int | None]) -> float:
        i, j = pair
        weights = [0.0 if i is None else float(first.weights[i])]
        return max(*weights, 0.0 if j is None else float(second.weights[j]))

    kept = sorted(range(len(pairs)), key=lambda place: -most(pairs[place]))[:MOST_WORDS]
    return [pairs[place] for place in sorted(kept)]


def _cells(side: Side, place: int | None, word: int, width: int, scored: bool) -> list[Text | str]:
    if place is None:
        return [""] * (4 if scored else 3)
    style = "bold reverse" if place == side.word else "default"
    label = Text(visible(side.tokens[place]), style=style)
    label.truncate(word, overflow="ellipsis")
    share = float(side.weights[place])
    value = float(side.scaled[place])
    score = ["" if math.isnan(value) else number(value, 2)] if scored else []
    return [label, *score, f"{share:.3f}", bar(share, width)]


def _change(first: Side, second: Side, i: int | None, j: int | None) -> str:
    if i is None or j is None:
        return ""
    change = float(second.weights[j]) - float(first.weights[i])
    return f"{change:+.3f}" if abs(change) >= 0.0005 else "0"
