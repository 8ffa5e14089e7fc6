"""Progress: what the user sees of a run. A bar on a terminal, plain lines elsewhere, an end."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any, NamedTuple, TextIO

from regard.store.folder import RunFolder
from regard.text import number_of
from regard.train.run.state import RunState


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


@dataclass(frozen=True)
class Outcome:
    """How a run ended."""

    reason: str
    """epochs, steps, minutes, patience or interrupted."""
    state: RunState
    """Where it was then; ``state.figure`` is the validation figure of the saved model."""
    figure: str = "figure"
    """What that is: BLEU, perplexity, accuracy, or loss."""

    @property
    def interrupted(self) -> bool:
        """Whether the user stopped it."""
        return self.reason == "interrupted"


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


def format_outcome(outcome: Outcome, task: str, output: str) -> str:
    """The last line: why it ended, how good it is, where it is, and how to go on."""
    state = outcome.state
    if outcome.interrupted:
        return (
            f"stopped and saved at step {state.step}; to go on: "
            f"regard train {task} -o {output} --resume"
        )
    figure = "" if state.figure is None else f", validation {outcome.figure} {state.figure:.2f}"
    kind = "" if state.average is None else " (average of checkpoints)"
    where = f"the model is in {output}"
    if not RunFolder(output).model.exists():
        where = f"there is no model in {output} yet, as no validation was reached"
    return (
        f"done ({outcome.reason}) after {number_of(state.step, 'update')} and "
        f"{format_seconds(state.seconds)}{figure}{kind}; {where}"
    )
