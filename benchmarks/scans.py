"""How near the scans of recurrent self-attention are to what their arithmetic allows.

    python benchmarks/scans.py [--rounds N] [--lengths 32 128 512]

Words per second of training (forward and backward), batch 16, hidden 300, one thread. The limit is
the time of the matrix products alone, each of the size that the loop needs, by PyTorch into ready
tensors, and of one tanh a pair of words and number forward and one in the gradient, at the rate of
PyTorch's vectorised tanh on numbers that are in the cache. Sums, gates, softmax and the memory that
is read for tanh count nothing. The goal is 85 % of it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
from recurrent import FEWER, HIDDEN, LENGTHS, designs, training
from timing import interleaved
from torch import Tensor

GOAL = 0.85
CACHED = 1 << 12


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


def bent(n: int) -> Callable[[], None]:
    """tanh of every pair and number, forward and in the gradient."""
    x: Tensor = torch.randn(CACHED)
    out = torch.empty(CACHED)
    times = FEWER * n * (n - 1) // 2 * HIDDEN * 2 // CACHED

    def run() -> None:
        for _ in range(times):
            torch.tanh(x, out=out)

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
    }


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--lengths", type=int, nargs="+", default=LENGTHS)
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"torch {torch.__version__}, one thread, best of {options.rounds} interleaved rounds")
    print(
        f"{'words/s of training':<40} {'length':>6} {'regard':>8} {'limit':>8}   share   of it tanh"
    )
    fine = True
    for design in designs()[:2]:
        for n in options.lengths:
            ours = training(*design.runs()["regard"], n, FEWER)
            times = interleaved(
                {"regard": ours, **parts(design.name, n)}, rounds=options.rounds, seconds=0
            )
            taken = times.pop("regard").least
            least = sum(time.least for time in times.values())
            share, words = least / taken, n * FEWER
            fine &= share >= GOAL
            print(
                f"{design.name:<40} {n:>6} {words / taken:>8,.0f} {words / least:>8,.0f}  "
                f"{share:>5.0%}    {times['tanh'].least / least:>6.0%}"
                f"{'' if share >= GOAL else '   NOT MET'}",
                flush=True,
            )
    return 0 if fine else 1


if __name__ == "__main__":
    raise SystemExit(main())
