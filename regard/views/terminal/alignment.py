"""Alignment on the terminal: a row for each target word, a column for each source word."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.style import Style
from rich.text import Text

from regard.text import visible
from regard.trace import Array
from regard.views.terminal.numbers import colour

SHADES = " ░▒▓█"
MOST = 14
"""Columns of the longest source word that is written whole."""
MOST_NAMED, LEAST_NAMED = 3, 0.05
"""Source words that are named as those a word was copied from, and the share of the least."""


def print_alignment(
    source: Sequence[str], target: Sequence[str], weights: Array, console: Console
) -> None:
    """Print ``weights`` (target, source), shaded by weight; the strongest word of each row named.

    The source words stand above their columns, as many as fit; the rest follows in further blocks.
    """
    above, beside = [visible(w) for w in source], [visible(w) for w in target]
    label = min(MOST, max(map(cell_len, beside), default=0))
    widths = [min(MOST, max(4, cell_len(w))) for w in above]
    for start, stop in blocks(widths, console.width - label - 2):
        head = Text(" " * label + "  ")
        for j in range(start, stop):
            head.append(set_cell_size(above[j], widths[j]) + " ", style="dim")
        console.print(head, no_wrap=True, overflow="crop")
        for i, word in enumerate(beside):
            line = Text(set_cell_size(word, label) + "  ")
            for j in range(start, stop):
                strongest = j == int(np.argmax(weights[i]))
                line.append(cell(float(weights[i, j]), widths[j], strongest)).append(" ")
            console.print(line, no_wrap=True, overflow="crop")


def print_copies(
    source: Sequence[str], target: Sequence[str], copies: Array, console: Console
) -> None:
    """Print how much of each target word was copied, in hundredths, and from which source words.

    ``copies`` (target, source); a source word is named with its number, from 1, where it stands
    more than once.
    """
    label = min(MOST, max([4, *(cell_len(visible(w)) for w in target)]))
    console.print(Text(set_cell_size("word", label) + "  copied  from", style="dim"))
    for word, row in zip(target, copies, strict=True):
        line = Text(set_cell_size(visible(word), label) + "  ")
        line.append(cell(float(row.sum()), 6, strongest=False)).append("  ")
        order = [j for j in np.argsort(-row, kind="stable") if row[j] >= LEAST_NAMED][:MOST_NAMED]
        line.append(", ".join(_numbered(source, int(j)) for j in order) or "the vocabulary")
        console.print(line, no_wrap=True, overflow="ellipsis")


def copies_line(target: Sequence[str], copies: Array) -> str:
    """The same in one line: how much of each word was copied."""
    shares = (f"{w} {100 * row.sum():.0f} %" for w, row in zip(target, copies, strict=True))
    return f"Copied from the source: {', '.join(shares)}; the rest comes from the vocabulary."


def _numbered(words: Sequence[str], place: int) -> str:
    """The word, with its number where there is another like it."""
    alike = [j for j, word in enumerate(words) if word == words[place]]
    number = f"#{alike.index(place) + 1}" if len(alike) > 1 else ""
    return visible(words[place]) + number


def blocks(widths: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Cut columns of these widths into runs [start, stop) that fit ``room``."""
    cuts, used = [0], 0
    for j, width in enumerate(widths):
        if used and used + width + 1 > room:
            cuts.append(j)
            used = 0
        used += width + 1
    return list(zip(cuts, [*cuts[1:], len(widths)], strict=True))


def cell(weight: float, width: int, strongest: bool) -> Text:
    """The weight in hundredths over a shade; the strongest of its row in bold."""
    text = f"{round(100 * weight):>3d}" if weight >= 0.005 else "  ·"
    text = (text + SHADES[round(min(1.0, weight) * 4)] * (width - 3))[:width]
    r, g, b = colour(weight)
    shown = weight >= 0.005
    return Text(text, style=Style(color=f"rgb({r},{g},{b})" if shown else None, bold=strongest))
