"""Progress: what the user sees while a model trains. A bar on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple, TextIO


class Status(NamedTuple):
    """Where the run is, after an update."""

    step: int
    epoch: float
    loss: float
    """Per token, of the updates since the last line."""
    rate: float
    """Adam's step size."""
    speed: float
    """Target tokens a second."""
    done: float
    """The share of the run that is over; 0 if only patience ends it."""
    seconds: float
    best: str = ""
    """The best validation so far, such as ``BLEU 31.2``."""


class Progress:
    """Shows nothing: for tests, and for processes other than rank 0."""

    def note(self, text: str) -> None:
        """Something worth a line."""

    def update(self, status: Status, line: bool) -> None:
        """An update was made; ``line``: it is one that the log mentions."""

    def close(self) -> None:
        """No more will come."""


class ProgressLines(Progress):
    """Plain lines, for a file or a pipe."""

    def __init__(self, stream: TextIO) -> None:
        self.stream = stream

    def note(self, text: str) -> None:
        print(text, file=self.stream, flush=True)

    def update(self, status: Status, line: bool) -> None:
        if line:
            self.note(format_status(status))


class ProgressBar(Progress):
    """A bar at the bottom of a terminal; notes scroll above it."""

    def __init__(self, stream: TextIO) -> None:
        from rich import progress
        from rich.console import Console

        columns: list[Any] = [progress.BarColumn(30), progress.TextColumn("{task.description}")]
        self.bar = progress.Progress(
            *columns, console=Console(file=stream, highlight=False), transient=True
        )
        self.task = self.bar.add_task("", total=None)
        self.bar.start()

    def note(self, text: str) -> None:
        self.bar.console.print(text, markup=False, soft_wrap=True)

    def update(self, status: Status, line: bool) -> None:
        total = 1.0 if status.done else None
        text = format_status(status)
        self.bar.update(self.task, completed=status.done, total=total, description=text)

    def close(self) -> None:
        self.bar.stop()


def progress_on(stream: TextIO | None = None) -> Progress:
    """The right one for the stream (standard output by default)."""
    stream = stream or sys.stdout
    return ProgressBar(stream) if stream.isatty() else ProgressLines(stream)


def format_status(status: Status) -> str:
    """One line: step, passes, loss, step size, speed, best, time left."""
    parts = [
        f"step {status.step}",
        f"epoch {status.epoch:.2f}",
        f"loss {status.loss:.3f}",
        f"rate {status.rate:.2e}",
        f"{status.speed:,.0f} tokens/s",
    ]
    if status.best:
        parts.append(f"best {status.best}")
    if status.done:
        parts.append(f"{format_seconds(status.seconds * (1 / status.done - 1))} left")
    return "  ".join(parts)


def format_seconds(seconds: float) -> str:
    """``1:02:03`` or ``2:03``."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"
