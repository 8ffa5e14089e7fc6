"""Confusion on the terminal: which label was taken for which."""

from __future__ import annotations

from collections.abc import Sequence

from rich import box
from rich.console import Console
from rich.table import Table
from rich.text import Text

from regard.text import cut, visible

MOST = 12
"""Labels whose counts fit a table; of more, only the figures of each are shown."""
LABEL = 14
"""Columns of the longest label that is written whole."""


def print_confusion(
    labels: Sequence[str],
    counts: Sequence[Sequence[int]],
    recall: Sequence[float | None],
    precision: Sequence[float | None],
    console: Console,
) -> None:
    """Print ``counts[true][said]``, a row for each true label, with recall and precision."""
    names = [cut(visible(label), LABEL) for label in labels]
    table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False)
    table.add_column("true \\ said" if len(names) <= MOST else "label")
    for name in names if len(names) <= MOST else []:
        table.add_column(Text(name), justify="right")
    for title in ("recall", "precision"):
        table.add_column(title, justify="right")
    for i, name in enumerate(names):
        cells = [Text(f"{n:,}", style="bold" if i == j else "") for j, n in enumerate(counts[i])]
        figures = [Text(_percent(each[i])) for each in (recall, precision)]
        table.add_row(Text(name), *(cells if len(names) <= MOST else []), *figures)
    console.print(table)


def _percent(share: float | None) -> str:
    return "none" if share is None else f"{100 * share:.1f} %"
