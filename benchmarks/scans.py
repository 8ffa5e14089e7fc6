"""How near the scans of recurrent self-attention are to what their arithmetic allows.

    python benchmarks/scans.py [--rounds N] [--lengths 32 128 512]

Words per second of training (forward and backward), batch 16, hidden 300, one thread. The limit is
the time of the matrix products alone, each of the size that the loop needs, by PyTorch into ready
tensors, and of one tanh a pair of words and number forward and one in the gradient, at the rate of
PyTorch's vectorised tanh on numbers that are in the cache. Sums, gates, softmax and the memory that
is read for tanh count nothing.

The kernel's own tanh is faster than PyTorch's, which makes this limit a lenient one. The strict
limit has the same products and the tanh of the kernel itself, over a tape that stays in the cache,
at its rate forward for both directions. The goal is 85 % of each. More than all of it is possible:
regard lays out the matrices of a step once for all words, and takes oneDNN for the products over
all words where that is faster than MKL, which PyTorch takes.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from goals import Goal, tell
from recurrent import FEWER, HIDDEN, LENGTHS, designs, training
from timing import interleaved
from torch import Tensor

from regard.attention.kernel.additive import AdditiveLook
from regard.attention.kernel.library import kernel

GOAL = 0.85
CACHED = 1 << 12
SLOTS = 256
"""Of the tape over which the kernel's own tanh is measured: 300 KB of keys."""


def product(rows: int, ins: int, outs: int, times: int = 1) -> Callable[[], None]:
    """(rows, ins) times (ins, outs), so many times."""
    x, weight, out = torch.randn(rows, ins), torch.randn(ins, outs), torch.empty(rows, outs)

    def run() -> None:
        for _ in range(times):
            torch.mm(x, weight, out=out)

    return run


def looks(n: int, width: int) -> Callable[[], None]:
    """What n steps take from the tape and give back: the mixture of the values before each step and
    the gradient of its weights, and of all values together half of one product over all pairs."""
    values, weights = torch.randn(FEWER, n, width), torch.rand(FEWER, 1, n)
    mixed, scores = torch.empty(FEWER, 1, width), torch.empty(FEWER, 1, n)
    every, half = torch.rand(FEWER, n, n // 2), torch.randn(FEWER, n // 2, width)
    d_values = torch.empty(FEWER, n, width)

    def run() -> None:
        for t in range(1, n):
            torch.bmm(weights[..., :t], values[:, :t], out=mixed)
            torch.bmm(mixed, values[:, :t].transpose(1, 2), out=scores[..., :t])
        torch.bmm(every, half, out=d_values)

    return run


def values_of_tanh(n: int) -> int:
    """Every pair and number, forward and in the gradient."""
    return FEWER * n * (n - 1) // 2 * HIDDEN * 2


def bent(n: int) -> Callable[[], None]:
    """All of them by PyTorch."""
    x: Tensor = torch.randn(CACHED)
    out = torch.empty(CACHED)

    def run() -> None:
        for _ in range(values_of_tanh(n) // CACHED):
            torch.tanh(x, out=out)

    return run


def bent_by_kernel(n: int) -> Callable[[], None]:
    """All of them by the kernel, each as part of a score; there is nothing to mix."""
    it = kernel()
    assert it is not None
    keys, query, v = torch.randn(1, SLOTS, HIDDEN), torch.randn(1, 1, HIDDEN), torch.randn(HIDDEN)
    values, weights, mixed = torch.ones(1, SLOTS, 1), torch.empty(1, 1, SLOTS), torch.empty(1, 1, 1)
    look, seen = AdditiveLook(it, keys, query, v, values, weights, mixed), slice(0, SLOTS)

    def run() -> None:
        for _ in range(max(1, values_of_tanh(n) // (SLOTS * HIDDEN))):
            look.look(0, seen)

    return run


def parts(name: str, n: int) -> dict[str, Callable[[], None]]:
    """The work of a design that cannot be left out."""
    words, h = n * FEWER, HIDDEN
    lstmn = name == "LSTMN"
    sums = 5 * h if lstmn else h  # from an input: the gates and the query, or the new state
    recurrent = 4 * h if lstmn else h
    return {
        "inputs": product(words, h, sums),
        "inputs' gradient": product(words, sums, h),
        "weights' gradient": product(sums, words, h),
        # Each step: what was recalled, and key and query; and back.
        "steps": product(FEWER, h, recurrent, n),
        "steps back": product(FEWER, recurrent, h, n),
        "keys, queries": product(FEWER, h, h, 4 * n),
        "their weights' gradients": product(recurrent + 2 * h, words, h),
        "looks": looks(n, 2 * h if lstmn else h),
        "tanh": bent(n),
    } | ({} if kernel() is None else {"kernel's tanh": bent_by_kernel(n)})


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread, best of {options.rounds} interleaved rounds")
    print(
        f"{'words/s of training':<37} {'length':>6} {'regard':>8}    limit   share   strict   share"
    )
    goals = []
    for design in designs()[:2]:
        for n in options.lengths:
            ours = training(*design.runs()["regard"], n, FEWER)
            ways = {"regard": ours, **parts(design.name, n)}
            times = interleaved(ways, rounds=options.rounds, seconds=0)
            found = {name: time.least for name, time in times.items()}
            taken, tanh, own = (
                found.pop("regard"),
                found.pop("tanh"),
                found.pop("kernel's tanh", None),
            )
            products = sum(found.values())
            limits = {"": products + tanh, " strict": None if own is None else products + own}
            print(f"{design.name:<37} {n:>6} {n * FEWER / taken:>8,.0f}", end="")
            for name, least in limits.items():
                what = f"training of {design.name}, {n} words, share of the{name} limit"
                share = None if least is None else least / taken
                goals.append(Goal(what, share, GOAL))
                print(
                    " –" if least is None else f" {n * FEWER / least:>8,.0f} {share:>7.0%}", end=""
                )
            print(flush=True)
    return tell(goals)


if __name__ == "__main__":
    raise SystemExit(main())
