"""Word vectors as plain text and tables: words come from files, so none of them is markup."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from rich import box
from rich.table import Table
from rich.text import Text

from regard.text import visible


def format_vector(vector: NDArray[np.float32]) -> str:
    """All numbers, as NumPy prints them: as many digits as name the float32, at most eight."""
    return np.array2string(vector, max_line_width=78, threshold=vector.size, precision=8)


def near_table(near: Sequence[tuple[str, float]]) -> Table:
    """Rank, word and cosine."""
    table = Table(box=box.SIMPLE, show_edge=False)
    table.add_column("rank", justify="right")
    table.add_column("word", overflow="fold")
    table.add_column("cosine", justify="right")
    for rank, (word, cosine) in enumerate(near, 1):
        table.add_row(str(rank), Text(visible(word)), f"{cosine:.4f}")
    return table
