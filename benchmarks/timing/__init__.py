"""Timing two or more ways of doing the same thing, fairly, on a machine that is never quiet.

The ways take turns, so that a slow moment hits all of them, and the order turns with every round.
Of many rounds the least time is what the code needs; everything above it is the machine.
"""

from __future__ import annotations

import gc
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import NamedTuple


class Time(NamedTuple):
    """Seconds for one call."""

    least: float
    median: float


def interleaved(
    ways: Mapping[str, Callable[[], object]], *, rounds: int, seconds: float = 0.004
) -> dict[str, Time]:
    """Time each way ``rounds`` times in turn; a turn repeats a call for about ``seconds``."""
    calls = 1
    for way in ways.values():
        way()
        start = time.perf_counter()
        way()
        calls = max(calls, round(seconds / (time.perf_counter() - start)))
    taken: dict[str, list[float]] = {name: [] for name in ways}
    names = list(ways)
    collecting = gc.isenabled()
    gc.disable()
    try:
        for turn in range(rounds):
            first = turn % len(names)
            for name in names[first:] + names[:first]:
                way = ways[name]
                start = time.perf_counter()
                for _ in range(calls):
                    way()
                taken[name].append((time.perf_counter() - start) / calls)
    finally:
        if collecting:
            gc.enable()
    return {name: Time(min(times), median(times)) for name, times in taken.items()}


def format_seconds(seconds: float) -> str:
    """``12.3 us``, ``4.56 ms`` or ``7.89 s``: three digits."""
    for unit, size in (("us", 1e-6), ("ms", 1e-3)):
        if seconds < 999.5 * size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds:.3g} s"


class Clock:
    """Seconds that passed, and seconds of the CPU."""

    def __enter__(self) -> Clock:
        self.start = time.perf_counter(), time.process_time()
        return self

    def __exit__(self, *failure: object) -> None:
        self.seconds = time.perf_counter() - self.start[0]
        self.cpu = time.process_time() - self.start[1]


class Resident:
    """The highest resident memory inside the block, less that before it (Linux)."""

    def __enter__(self) -> Resident:
        self.before = self.highest = resident()
        self.done = threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def _watch(self) -> None:
        while not self.done.wait(0.005):
            self.highest = max(self.highest, resident())

    def __exit__(self, *failure: object) -> None:
        self.done.set()
        self.thread.join()
        self.extra = max(self.highest, resident()) - self.before


def resident() -> int:
    """Bytes of this process's own memory that are there, without pages of files (Linux)."""
    _, all_pages, of_files, *_ = Path("/proc/self/statm").read_text().split()
    return (int(all_pages) - int(of_files)) * 4096
