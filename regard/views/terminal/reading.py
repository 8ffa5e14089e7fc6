"""Reading on the terminal: a line for each new word, and on it what the word attends to.

The figure of Cheng, Dong & Lapata (2016): the words read so far, each shaded by the attention that
the last of them gives to it. The weight stands at the word in small hundredths, so that a pipe
without colours shows it too.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len
from rich.console import Console
from rich.style import Style
from rich.text import Text

from regard.text import visible
from regard.trace import Array
from regard.views.terminal.numbers import bar, colour

SMALL = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")
INDENT = 7
"""Columns before the words: the bits."""
BARS = 40


def print_reading(
    words: Sequence[str], bits: Array, weights: Array | None, console: Console
) -> None:
    """Print a line for each word after the first: its bits, and the words it attends to.

    ``weights`` (word, word); without attention (None) only the bits are shown, as bars.
    """
    shown = [visible(word) for word in words]
    console.print(Text(" bits", style="dim"), no_wrap=True)
    most = max([1.0, *(float(b) for b in bits)])
    for t in range(1, len(shown)):
        head = f"{float(bits[t]):5.1f}  "
        if weights is None:
            line = Text(head + shown[t] + " ")
            room = max(8, min(BARS, console.width - cell_len(line.plain) - 1))
            line.append(bar(float(bits[t]) / most, room))
            console.print(line, no_wrap=True, overflow="crop")
            continue
        parts = [weighted(shown[i], float(weights[t, i])) for i in range(t)]
        parts.append(weighted(shown[t], float(weights[t, t]), style="bold reverse"))
        for number, row in enumerate(wrapped(parts, console.width - INDENT)):
            front = Text(" " * INDENT if number else head)
            console.print(front.append(row), no_wrap=True, overflow="crop")


def print_weighted(
    words: Sequence[str], weights: Array | Sequence[float], console: Console
) -> None:
    """Print the words of one sentence with a weight each, wrapped."""
    parts = [weighted(visible(w), float(a)) for w, a in zip(words, weights, strict=True)]
    for row in wrapped(parts, console.width):
        console.print(row, no_wrap=True, overflow="crop")


def weighted(word: str, weight: float, style: str | Style = "") -> Text:
    """The word over its shade, and its weight in small hundredths where it is at least one."""
    text = Text(word, style=style or shade(weight))
    hundredths = round(100 * weight)
    return text.append(str(hundredths).translate(SMALL), "dim") if hundredths else text


def shade(weight: float) -> Style:
    """Nothing for no weight; else the ramp's colour, with letters that stand out from it."""
    if weight < 0.005:
        return Style()
    r, g, b = colour(weight)
    light = 0.3 * r + 0.6 * g + 0.1 * b > 110
    return Style(bgcolor=f"rgb({r},{g},{b})", color="black" if light else "white")


def wrapped(parts: Sequence[Text], room: int) -> Iterator[Text]:
    """Lines of words that fit ``room`` columns; a word alone on its line may be longer."""
    line, used = Text(), 0
    for part in parts:
        width = cell_len(part.plain)
        if used and used + 1 + width > room:
            yield line
            line, used = Text(), 0
        if used:
            line.append(" ")
        line.append(part)
        used += width + (1 if used else 0)
    if used:
        yield line
