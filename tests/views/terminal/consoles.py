"""A console in memory, and what was printed on it."""

from __future__ import annotations

import io
from typing import Literal

from rich.console import Console


def console(width: int = 80, colours: bool = False) -> Console:
    kind: Literal["truecolor"] | None = "truecolor" if colours else None
    return Console(
        file=io.StringIO(), width=width, force_terminal=colours, color_system=kind, markup=False
    )


def printed(to: Console) -> str:
    assert isinstance(to.file, io.StringIO)
    return to.file.getvalue()
