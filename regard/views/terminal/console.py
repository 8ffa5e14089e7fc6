"""The console that commands print to: colours on a terminal, plain text in a pipe."""

from __future__ import annotations

import re
import sys
from typing import TextIO, cast

from rich.console import Console


class PlainConsole(Console):
    """A console that leaves a closed pipe to the command line."""

    def on_broken_pipe(self) -> None:
        raise  # the BrokenPipeError that is being handled


class Trimmed:
    """A text stream without the spaces that fill lines to the console's width."""

    def __init__(self, file: TextIO) -> None:
        self.file = file
        self.encoding = getattr(file, "encoding", "utf-8")

    def write(self, text: str) -> int:
        self.file.write(re.sub(r" +(?=\n)", "", text))
        return len(text)

    def flush(self) -> None:
        self.file.flush()

    def isatty(self) -> bool:
        return False


def make_console(file: TextIO | None = None) -> Console:
    """As wide as the terminal (80 in a pipe, COLUMNS if set); text is never read as markup."""
    to = file or sys.stdout
    if not to.isatty():
        to = cast(TextIO, Trimmed(to))
    return PlainConsole(file=to, markup=False, highlight=False, emoji=False)
