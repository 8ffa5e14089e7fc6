"""Measure: run each mechanism at each length; keep the best time and the peak of memory."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial

import torch

from regard.cost.mechanisms import MECHANISMS, Mechanism, Run
from regard.cost.peak import peak_bytes
from regard.cost.result import Cost, Costs
from regard.cost.room import check_run
from regard.cost.setting import Setting
from regard.cost.units import in_seconds
from regard.errors import RegardError

PROBE = 512
"""The length that is run to estimate how long the others will take."""
Clock = Callable[[], float]
CostProgress = Callable[[float, str], None]
"""Told the share that is done, 0 to 1, and what is being done."""


def measure(
    lengths: Sequence[int],
    setting: Setting,
    *,
    repeats: int = 5,
    budget: float = 10.0,
    threads: int = 1,
    progress: CostProgress = lambda share, what: None,
) -> Costs:
    """Time and peak memory of each mechanism at each of the ``lengths``, on the CPU.

    Memory does not vary and is counted once. Time is the best of ``repeats`` rounds over all
    lengths and mechanisms, so that a slow moment of the machine falls on all alike; no new round
    starts once ``budget`` seconds have passed. Raises before it starts if it would not fit.
    """
    check_run(lengths, setting, repeats, budget, threads)
    lengths = tuple(lengths)
    # Of one thread the processor time: what else the machine does then does not count.
    clock = time.thread_time if threads == 1 else time.perf_counter
    start = time.perf_counter()
    with torch.no_grad(), _threads(threads):
        check_time(lengths, setting, budget)
        runs = {(m, n): m.prepare(n, setting) for n in lengths for m in MECHANISMS}
        sizes = _count(runs, lambda share, what: progress(share / (repeats + 1), what))
        best = dict.fromkeys(runs, math.inf)
        rounds = 0
        while not rounds or (rounds < repeats and time.perf_counter() - start < budget):
            for done, (cell, run) in enumerate(runs.items(), rounds * len(runs)):
                share = (1 + done / len(runs)) / (repeats + 1)
                progress(share, f"time, round {rounds + 1} of {repeats}")
                best[cell] = min(best[cell], fastest(run, clock))
            rounds += 1
    costs = (
        Cost(m, lengths, tuple(best[m, n] for n in lengths), tuple(sizes[m, n] for n in lengths))
        for m in MECHANISMS
    )
    return Costs(setting, lengths, rounds, threads, tuple(costs))


@contextmanager
def _threads(count: int) -> Iterator[None]:
    """Let torch compute in ``count`` threads.

    One is the default: two threads that wait for each other on a busy machine can take a hundred
    times as long, and short inputs get fewer threads than long ones, which bends the curve.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


def fastest(run: Run, clock: Clock = time.thread_time, *, calls: int = 10) -> float:
    """Seconds of the fastest of up to ``calls`` calls: the first is cold, any may be disturbed.

    Quick ones are called until 20 ms have passed, and three times at least; slow ones once.
    """
    best, spent = math.inf, 0.0
    for call in range(calls):
        start = clock()
        run()
        seconds = clock() - start
        best, spent = min(best, seconds), spent + seconds
        if best > 0.05 or (spent > 0.02 and call >= 2):
            break
    return best


def _count(
    runs: dict[tuple[Mechanism, int], Run], progress: CostProgress
) -> dict[tuple[Mechanism, int], int]:
    """Peak bytes of each run. It is each one's first call too, so the timing starts warm."""
    sizes = {}
    for done, ((mechanism, n), run) in enumerate(runs.items()):
        progress(done / len(runs), f"memory, n = {n}")
        try:
            sizes[mechanism, n] = peak_bytes(run)
        except RuntimeError as error:  # what torch raises when the system gives it no memory
            if "alloc" not in str(error):
                raise
            raise RegardError(
                f"out of memory at n = {n} ({mechanism.name}); pass shorter --lengths"
            ) from error
    return sizes


def check_time(lengths: Sequence[int], setting: Setting, budget: float) -> None:
    """Raise if even one round would take longer than the budget."""
    seconds = estimated_seconds(lengths, setting)
    if seconds > budget:
        raise RegardError(
            f"measuring up to n = {lengths[-1]} takes about {in_seconds(seconds)}, more than the "
            f"budget of {in_seconds(budget)}; pass shorter --lengths or --budget "
            f"{math.ceil(2 * seconds)}"
        )


def estimated_seconds(lengths: Sequence[int], setting: Setting) -> float:
    """Seconds to count the memory and time one round, scaled by the formulas from a short run."""
    probe = min(PROBE, lengths[-1])
    total = 0.0
    for mechanism in MECHANISMS:
        run = mechanism.prepare(probe, setting)
        peak_bytes(run)  # the first call of anything loads code, and is no measure
        once = fastest(run) + fastest(partial(peak_bytes, run))
        total += once * sum((n / probe) ** mechanism.time_power for n in lengths)
    return total
