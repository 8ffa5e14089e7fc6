"""What a command shows on stderr while it works: a bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import click

from regard.text import visible

PATIENCE = 5.0
"""Seconds between two lines of progress, at least, where there is no terminal."""

PlainLine = Callable[[float, str], str | None]
"""What a pipe gets to read of a share that is done and of what is at work, if anything."""


class CommandProgress:
    """``progress(share, what)``: a bar with ``what`` beside it, or now and then ``line``'s line."""

    def __init__(self, title: str, line: PlainLine, *, shown: bool = True) -> None:
        self.title, self.line, self.shown = title, line, shown
        self.bar: Any = None

    def __enter__(self) -> CommandProgress:
        from rich.console import Console

        console = Console(stderr=True)
        if self.shown and console.is_terminal:
            from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

            title = TextColumn(self.title)
            columns = title, BarColumn(), TextColumn("{task.description}"), TimeRemainingColumn()
            self.bar = Progress(*columns, console=console, transient=True)
            self.task = self.bar.add_task("", total=1.0)
            self.bar.start()
        return self

    def __exit__(self, *failure: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, share: float, what: str = "") -> None:
        if self.bar is not None:
            self.bar.update(self.task, completed=share, description=what)
        elif self.shown and (line := self.line(share, what)) is not None:
            self.note(line)

    def note(self, text: str) -> None:
        """A line that stays."""
        if self.bar is not None:
            self.bar.console.print(visible(text), markup=False, highlight=False)
        elif self.shown:
            click.echo(visible(text), err=True)


@contextmanager
def counted(title: str) -> Iterator[Callable[[int, int], None]]:
    """For work that reports how many of how many are done."""
    with CommandProgress(title, tenths(title)) as progress:
        yield lambda done, total: progress(done / max(1, total))


def tenths(title: str) -> PlainLine:
    """``loading: 40 %`` at a new tenth, and only if it takes long; then ``100 %`` at the end."""
    last, said = time.monotonic(), 0

    def line(share: float, what: str) -> str | None:
        nonlocal last, said
        reached = int(10 * share)
        soon = time.monotonic() - last < PATIENCE
        if reached <= said or (soon and not (said and reached == 10)):  # what was begun is ended
            return None
        last, said = time.monotonic(), reached
        return f"{title}: {10 * reached} %"

    return line


def changes(title: str) -> PlainLine:
    """``measuring memory, n = 256``: a line whenever something new begins."""
    before = ""

    def line(share: float, what: str) -> str | None:
        nonlocal before
        if what == before:
            return None
        before = what
        return f"{title} {what}"

    return line
