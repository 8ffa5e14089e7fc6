"""Stop: when a run ends: by its limits, for want of patience, or because Ctrl-C asks for it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # whoever looks stops by this too, and needs neither
    from regard.train.config import TrainConfig
    from regard.train.run.state import RunState


def share_done(config: TrainConfig, state: RunState, passes: float, after: float = 0.0) -> float:
    """How much of the run is over, 0 to 1, by the limit that will be reached first.

    ``passes``: over the data, so far. ``after``: seconds that are needed when all is over. With
    ``minutes`` the clock decides, so such a run is not repeatable bit by bit; one with ``steps``
    or ``epochs`` is.
    """
    shares = [0.0]
    if config.epochs:
        shares.append(passes / config.epochs)
    if config.steps:
        shares.append(state.step / config.steps)
    if config.minutes:
        left = 60 * config.minutes - reserve(config, state) - after
        shares.append(state.seconds / max(1e-9, left))
    return min(1.0, max(shares))


def finished(config: TrainConfig, state: RunState, after: float = 0.0) -> str:
    """Which limit is reached: patience, epochs, steps, minutes, or none: empty."""
    if config.patience and state.waited >= config.patience:
        return "patience"
    if config.epochs and state.epoch >= config.epochs:
        return "epochs"
    if config.steps and state.step >= config.steps:
        return "steps"
    if config.minutes and state.seconds + reserve(config, state) + after >= 60 * config.minutes:
        return "minutes"
    return ""


def reserve(config: TrainConfig, state: RunState) -> float:
    """Seconds to keep for the last validation and for trying the average."""
    return max(2 * state.validation_seconds, 0.02 * 60 * config.minutes)


@contextmanager
def stopping() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C (or SIGTERM) sets; the second one ends the process."""
    asked = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield asked
        return
    before: dict[int, Any] = {}

    def ask(number: int, frame: FrameType | None) -> None:
        asked.set()
        signal.signal(number, before[number])

    for wanted in (signal.SIGINT, signal.SIGTERM):
        before[wanted] = signal.signal(wanted, ask)
    try:
        yield asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
