"""Reading on the terminal: a line for each new word, and on it what the word attends to.

The figure of Cheng, Dong & Lapata (2016): the words read so far, each shaded by the attention that
the last of them gives to it. The weight stands at the word in small hundredths, so that a pipe
without colours shows it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

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
LONG = 100
"""Words of a text, more than which do not all stand on every line."""
FEW = 8


def print_reading(
    words: Sequence[str], bits: Array, weights: Array | None, console: Console
) -> None:
    """Print a line for each word after the first: its bits, and the words it attends to.

    ``weights`` (word, word); without attention (None) only the bits are shown, as bars. Of a long
    text each line has the words with the largest weights only, and the first line says so.
    """
    shown = [visible(word) for word in words]
    console.print(Text(" bits", style="dim"), no_wrap=True)
    if weights is not None and len(shown) > LONG:
        said = f"{len(shown) - 1:,} words: of each, the {FEW} that it attends to most"
        console.print(Text(said, style="dim"), no_wrap=True)
    most = max([1.0, *(float(b) for b in bits)])
    for t in range(1, len(shown)):
        head = f"{float(bits[t]):5.1f}  "
        if weights is None:
            line = Text(head + shown[t] + " ")
            room = max(8, min(BARS, console.width - cell_len(line.plain) - 1))
            line.append(bar(float(bits[t]) / most, room))
            console.print(line, no_wrap=True, overflow="crop")
            continue
        parts = [weighted(shown[i], float(weights[t, i])) for i in _shown(weights[t], t)]
        parts.append(weighted(shown[t], float(weights[t, t]), style="bold reverse"))
        for number, row in enumerate(wrapped(parts, console.width - INDENT)):
            front = Text(" " * INDENT if number else head)
            console.print(front.append(row), no_wrap=True, overflow="crop")


def _shown(row: Array, t: int) -> Iterable[int]:
    """The words before word t, in their order; of a long text those with the largest weights."""
    if len(row) <= LONG:
        return range(t)
    return sorted(sorted(range(t), key=lambda i: -row[i])[:FEW])


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
