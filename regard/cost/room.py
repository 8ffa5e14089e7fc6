"""Room: can these lengths be measured here? Asked before torch is imported."""

from __future__ import annotations

import os
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from regard.cost.setting import Setting
from regard.cost.units import in_bytes
from regard.errors import RegardError

MOST_THREADS = os.cpu_count() or 1
FLOAT = 4
"""Bytes of a float32."""
SQUARES = 3
"""Arrays of n × n that attention with its weights kept has at once: scores, shifted, weights."""
CGROUPS = (
    # limit, use, statistics, and the name there of what the kernel can take back
    ("memory.max", "memory.current", "memory.stat", "inactive_file"),
    (
        "memory/memory.limit_in_bytes",
        "memory/memory.usage_in_bytes",
        "memory/memory.stat",
        "total_inactive_file",
    ),
)


def check_run(
    lengths: Sequence[int], setting: Setting, repeats: int, budget: float, threads: int
) -> None:
    """Raise for lengths that have no exponent, for no effort, and if it would not fit."""
    check_lengths(lengths)
    check_effort(repeats, budget, threads)
    check_memory(lengths, setting)


def check_lengths(lengths: Sequence[int]) -> None:
    """Raise unless there are two or more, from 1 up and increasing."""
    got = ",".join(str(n) for n in lengths)
    if len(lengths) < 2:
        raise RegardError(f"an exponent needs two lengths or more, got {got or 'none'}")
    if lengths[0] < 1:
        raise RegardError(f"a length must be 1 or more, got {lengths[0]}")
    if any(b <= a for a, b in pairwise(lengths)):
        raise RegardError(f"the lengths must increase, got {got}")


def check_effort(repeats: int, budget: float, threads: int) -> None:
    """Raise unless there is at least one round, some time for it and a thread to run it."""
    if repeats < 1:
        raise RegardError(f"the repeats must be 1 or more, got {repeats}")
    if not budget > 0:  # written so that NaN fails too
        raise RegardError(f"the budget must be more than 0 seconds, got {budget:g}")
    if not 1 <= threads <= MOST_THREADS:
        raise RegardError(f"the threads must be 1 to {MOST_THREADS}, got {threads}")


def check_memory(lengths: Sequence[int], setting: Setting) -> None:
    """Raise unless the longest length fits in the memory that is available."""
    n, free = max(lengths), available_memory()
    need = needed_memory(n, setting)
    if free is None or need <= free:
        return
    weights = FLOAT * setting.heads * n * n
    less = "shorter --lengths" if SQUARES * weights > need / 2 else "a smaller --width"
    squares = "n²" if setting.heads == 1 else f"{setting.heads} n²"
    raise RegardError(
        f"n = {n} does not fit in memory: its weights ({squares} × {FLOAT} bytes) take "
        f"{in_bytes(weights)} and measuring it {in_bytes(need)}, "
        f"{in_bytes(free)} are available; pass {less}"
    )


def needed_memory(n: int, setting: Setting) -> int:
    """Bytes that measuring length ``n`` takes at most: h n² weights, n d vectors, d² parameters."""
    vectors = 8 * n * setting.width  # input, projected, steps, output, and to spare
    parameters = 2 * setting.width**2
    return FLOAT * (SQUARES * setting.heads * n * n + vectors + parameters)


def available_memory() -> int | None:
    """Bytes that can be allocated now, by the system and by the container; None if unknown."""
    found = [free for free in (_system(), _container(Path("/sys/fs/cgroup"))) if free is not None]
    return min(found) if found else None


def _system() -> int | None:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    try:  # without /proc: what the machine has, an upper bound
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):
        return None


def _container(root: Path) -> int | None:
    """What a container's limit leaves (cgroup version 2, then 1); None without a limit."""
    for limit, used, statistics, reclaimable in CGROUPS:
        try:
            free = int((root / limit).read_text()) - int((root / used).read_text())
            lines = (root / statistics).read_text().splitlines()
            again = {name: int(size) for name, size in map(str.split, lines)}
            return max(0, free + again.get(reclaimable, 0))
        except (OSError, ValueError):  # no such file, or "max": no limit
            continue
    return None
