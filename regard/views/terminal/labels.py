"""Labels on the terminal: a line for each piece with what it looked at; a map of an image's."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.text import Text

from regard.text import columns, cut, padded, visible
from regard.trace import Array
from regard.views.terminal.reading import weighted, wrapped

LONGEST = 20
"""Columns of a word or a label; a longer one is cut."""
LEAST = 0.01
"""Weights below this are not shown."""


def print_labels(
    words: Sequence[str],
    labels: Sequence[str],
    likely: Sequence[float] | Array,
    weights: Array | None,
    console: Console,
) -> None:
    """Print each word with its label, how likely that is in hundredths, and the words with the
    largest ``weights`` (word, word) of its row, as many as the line holds."""
    shown = [cut(visible(word), LONGEST) for word in words]
    said = [cut(visible(label), LONGEST) for label in labels]
    wide = max([4, *map(columns, shown)]), max([5, *map(columns, said)])
    head = f"{padded('word', wide[0])}  {padded('label', wide[1])}    %"
    if weights is not None:
        head += "  looks at, in hundredths"
    console.print(Text(head, style="dim"), no_wrap=True)
    for i, (word, label) in enumerate(zip(shown, said, strict=True)):
        line = Text(f"{padded(word, wide[0])}  ")
        line.append(padded(label, wide[1]), "bold")
        line.append(f"  {100 * float(likely[i]):3.0f}")
        if weights is not None:
            order = [j for j in (-weights[i]).argsort(kind="stable") if weights[i, j] >= LEAST]
            parts = [weighted(shown[j], float(weights[i, j])) for j in order]
            room = max(LONGEST, console.width - sum(wide) - 9)
            line.append("  ").append(next(iter(wrapped(parts, room)), Text()))
        console.print(line, no_wrap=True, overflow="crop")


SIGNS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
"""Of labels, the commonest first; what is left has #."""


def print_label_map(labels: Sequence[str], across: int, console: Console) -> None:
    """Print the labels of an image's patches as a map, ``across`` in a row, a sign each; · is the
    commonest."""
    order = [label for label, _ in Counter(labels).most_common()]
    sign = dict(zip(order, "·" + SIGNS, strict=False))
    for start in range(0, len(labels), across):
        row = " ".join(sign.get(label, "#") for label in labels[start : start + across])
        console.print(Text(row), no_wrap=True, overflow="crop")
    counts = Counter(labels)
    for label in order:
        line = f"{sign.get(label, '#')}  {visible(label)}: {counts[label]} of {len(labels)} patches"
        console.print(Text(line), no_wrap=True, overflow="ellipsis")
