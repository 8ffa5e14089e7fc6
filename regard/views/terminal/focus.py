"""Focus: one word of one head of a trace, on one console, and the cells that its tables share."""

from __future__ import annotations

from dataclasses import dataclass

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.text import visible
from regard.trace import Array, Trace

MOST_WORDS = 24
"""Words in a table; the others are counted."""


@dataclass
class Focus:
    """What is being explained: one word of one head of a trace, on one console.

    ``words`` are those that attend, ``keys`` those that are attended to: others, where the weights'
    labels say so (``crosses``). ``rows`` are the keys that are shown.
    """

    trace: Trace
    word: int
    head: int
    console: Console
    forms: tuple[str, ...] = ("vector", "matrix")

    def __post_init__(self) -> None:
        self.words = [visible(t) for t in self.trace.tokens]
        source = self.trace["weights"].labels.get("key", self.trace.tokens)
        self.crosses = source != self.trace.tokens
        self.keys = [visible(t) for t in source]
        weights = self.weights
        order = sorted(range(len(weights)), key=lambda j: (-weights[j], j))[:MOST_WORDS]
        self.rows = sorted({*order} if self.crosses else {*order, self.word})

    def matrix(self, name: str) -> Array:
        """The step's numbers for the chosen head."""
        step = self.trace[name]
        value = step.value
        return value[self.head] if step.axes[0] == "head" else value

    @property
    def weights(self) -> Array:
        """What the chosen word gives to each word."""
        row: Array = self.matrix("weights")[self.word]
        return row

    @property
    def room(self) -> int:
        """Columns left beside the indentation and the longest word."""
        return self.console.width - 4 - self.label_width

    @property
    def label_width(self) -> int:
        longest = max((cell_len(self.keys[j]) for j in self.rows), default=4)
        return min(longest, self.console.width // 4)


def around(centre: int, n: int, most: int) -> list[int]:
    """At most ``most`` neighbours of ``centre`` among 0 … n − 1."""
    start = max(0, min(centre - most // 2, n - most))
    return list(range(start, min(n, start + most)))


def word_cell(focus: Focus, i: int) -> Text:
    """The label of a word that attends."""
    return _cell(focus, focus.words[i], i == focus.word)


def key_cell(focus: Focus, j: int) -> Text:
    """The label of a word that is attended to."""
    return _cell(focus, focus.keys[j], not focus.crosses and j == focus.word)


def _cell(focus: Focus, label: str, chosen: bool) -> Text:
    text = Text(label, style="bold reverse" if chosen else "default")
    text.truncate(focus.label_width, overflow="ellipsis")
    return text


def plain_table(*columns: str, right: tuple[int, ...] = ()) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="dim")
    for i, name in enumerate(columns):
        table.add_column(Text(name), justify="right" if i in right else "left", no_wrap=True)
    return table
