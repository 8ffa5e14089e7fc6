"""Estimate: how long a long text will take and how much memory, measured on its beginning."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import NamedTuple

from regard.cost.peak import PeakMemory
from regard.cost.room import available_memory
from regard.cost.units import in_bytes
from regard.errors import RegardError

SHORT, LONGER = 256, 1024
"""Two beginnings of a text that are tried."""
LARGE = 2048
"""Tokens from which on a text is worth an estimate."""


class Estimate(NamedTuple):
    """What one pass will take, beyond the model itself."""

    seconds: float
    bytes: float

    def check(self) -> None:
        """Raise if there is clearly not enough memory."""
        free = available_memory()
        if free is not None and self.bytes > free:
            raise RegardError(
                f"this would take about {in_bytes(self.bytes)} of memory and {in_bytes(free)} are "
                "available; give a shorter text"
            )

    def __str__(self) -> str:
        minutes, seconds = divmod(round(self.seconds), 60)
        time = f"{minutes} min {seconds} s" if minutes else f"{seconds} s"
        return f"about {time} and {in_bytes(self.bytes)} of memory beyond the model"


def estimate(run: Callable[[int], object], n: int, times: float = 1.0) -> Estimate:
    """Time and memory of ``run(n)`` by those of two beginnings.

    ``times``: the work is so often what ``run`` does, one after the other. Time grows as
    a·n + b·n² (each token alone, each pair), memory as a + b·n.
    """
    run(SHORT)  # what is only done once does not count
    (short_time, short_bytes), (longer_time, longer_bytes) = (
        _once(run, m) for m in (SHORT, LONGER)
    )
    square = (longer_time / LONGER - short_time / SHORT) / (LONGER - SHORT)
    square = max(0.0, square)
    linear = max(0.0, longer_time / LONGER - square * LONGER)
    slope = max(0.0, (longer_bytes - short_bytes) / (LONGER - SHORT))
    return Estimate(times * (linear * n + square * n * n), longer_bytes + slope * (n - LONGER))


def _once(run: Callable[[int], object], n: int) -> tuple[float, int]:
    memory = PeakMemory()
    start = time.perf_counter()
    with memory:
        kept = run(n)
    seconds = time.perf_counter() - start
    del kept
    return seconds, memory.peak
