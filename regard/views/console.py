"""The console that commands print to: colours on a terminal, plain text in a pipe."""

from __future__ import annotations

import sys
from typing import TextIO

from rich.console import Console


def make_console(file: TextIO | None = None) -> Console:
    """As wide as the terminal (80 in a pipe, COLUMNS if set); text is never read as markup."""
    return Console(file=file or sys.stdout, markup=False, highlight=False, emoji=False)
