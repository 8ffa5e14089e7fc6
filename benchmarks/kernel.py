"""regard's native kernel against PyTorch's fused attention, plain and with every statistic.

    python benchmarks/kernel.py [--rounds N] [--threads 1,2] [--long] [--variant avx2]

Each line: F.scaled_dot_product_attention's time and rate, how many times as fast the kernel is, and
how many times as fast it is with log-sum-exp, top 8, entropy, received attention and both pooled
maps (64 x 64 cells) computed in the same pass, all against PyTorch's attention alone. Then the
largest error of the output against float64, ours and PyTorch's.

Least times of interleaved rounds. Goals: plain at least 1.2 on every shape, 1.5 in the geometric
mean; with everything at least 1.0; decoding at least 1.0; error at most twice PyTorch's. Exits
with 1 if a goal is missed by more than 5%.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.nn.functional as F
from timing import format_seconds, interleaved
from torch import Tensor

from regard.attention import Mask, causal, window
from regard.attention.kernel import library
from regard.attention.kernel.run import run
from regard.attention.rule import Rule
from regard.attention.wanted import Wanted

SHAPES = ((1, 8, 512, 64), (1, 8, 2048, 64), (1, 12, 512, 32), (32, 8, 32, 64), (8, 8, 128, 64))
LONG = (1, 8, 8192, 64)
CELLS, TOP, REACH, CACHE = 64, 8, 128, 8192
NOISE = 1.05


@dataclass(frozen=True)
class Case:
    """One line: what is computed, and what is asked of it."""

    name: str
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Mask | None = None
    plain_goal: float | None = 1.2
    all_goal: float | None = 1.0
    counts: bool = False
    """Whether it is part of the geometric mean: full and causal attention of the usual shapes."""


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=40, help="turns of the short shapes")
    parser.add_argument("--threads", default="1,2", help="thread counts (default 1,2)")
    parser.add_argument("--long", action="store_true", help="8,192 tokens too")
    parser.add_argument("--variant", default="", help="avx512, avx2 or portable")
    options = parser.parse_args()
    kernel = library.load(library.PATH, options.variant)
    if isinstance(kernel, str):
        print(f"the native kernel is not in use: {kernel}")
        return 1
    fine = True
    for threads in (int(n) for n in options.threads.split(",")):
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        print(
            f"torch {torch.__version__}, {kernel.variant}, {threads} thread(s), float32; ratios to"
        )
        print(
            "PyTorch's attention alone: larger is faster; error against float64, ours / PyTorch's"
        )
        print()
        print(
            f"  {'batch, heads, tokens, width':<38} {'PyTorch':>18} {'plain':>7} {'all':>7}  error"
        )
        ratios = []
        with torch.no_grad():
            for case in cases(options.long):
                ratio, met = compare(kernel, case, options.rounds)
                fine &= met
                ratios += [ratio] if case.counts else []
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        fine &= mean * NOISE >= 1.5
        print(f"  geometric mean of plain, full and causal: {mean:.2f} (goal 1.50)\n")
    return 0 if fine else 1


def cases(long: bool) -> list[Case]:
    found = []
    for batch, heads, tokens, width in (*SHAPES, *((LONG,) if long else ())):
        q, k, v = torch.randn(3, batch, heads, tokens, width)
        name = f"{batch}, {heads}, {tokens:,}, {width}"
        found.append(Case(name, q, k, v, counts=True))
        found.append(Case(f"{name} causal", q, k, v, causal(), counts=True))
    q, (k, v) = torch.randn(1, 9, 2048, 64), torch.randn(2, 1, 3, 2048, 64)
    found.append(Case("1, 9 (3 key heads), 2,048, 64 causal", q, k, v, causal()))
    q, k, v = torch.randn(3, 1, 8, 2048, 64)
    found.append(Case(f"1, 8, 2,048, 64 window {REACH}", q, k, v, window(REACH)))
    for key_heads in (8, 2):
        q, (k, v) = torch.randn(1, 8, 1, 64), torch.randn(2, 1, key_heads, CACHE, 64)
        name = f"one query, 8 ({key_heads}) heads, {CACHE:,} keys"
        found.append(Case(name, q, k, v, plain_goal=1.0, all_goal=None))
    return found


def compare(kernel: library.Kernel, case: Case, rounds: int) -> tuple[float, bool]:
    """Print one line; the plain ratio, and whether every goal is met but for noise."""
    ways = ways_of(kernel, case)
    work = case.query.shape[:2].numel() * case.query.shape[2] * case.key.shape[2]
    few = max(3, min(rounds, int(rounds * 4e6 / work)))
    times = interleaved(ways, rounds=few, seconds=0.002)
    theirs = times["PyTorch"].least
    plain, everything = (theirs / times[name].least for name in ("plain", "all"))
    exact = reference(case)
    ours, torchs = (float((ways[name]() - exact).abs().max()) for name in ("plain", "PyTorch"))
    met = all(
        goal is None or ratio * NOISE >= goal
        for goal, ratio in ((case.plain_goal, plain), (case.all_goal, everything))
    )
    met &= ours <= 2 * torchs
    share = 0.5 if case.mask is not None and case.mask.causal else 1.0
    rate = 4 * work * case.query.shape[-1] * share / theirs / 1e9
    speed = (
        f"{format_seconds(theirs)} {rate:4.0f} GF"
        if case.mask is None or share < 1
        else format_seconds(theirs)
    )
    print(
        f"  {case.name:<38} {speed:>18} {plain:>7.2f} {everything:>7.2f}  "
        f"{ours:.0e} / {torchs:.0e}{'' if met else '  NOT MET'}",
        flush=True,
    )
    return plain, met


def ways_of(kernel: library.Kernel, case: Case) -> dict[str, Callable[[], Tensor]]:
    q, k, v, mask = case.query, case.key, case.value, case.mask
    rule = Rule(q.shape[-1] ** -0.5, mask)
    everything = Wanted(TOP, entropy=True, received=True, cells=CELLS)
    is_causal = mask is not None and mask.reach == (None, 0)
    dense = None if mask is None or is_causal else mask.dense(q.shape[2])
    grouped = q.shape[1] != k.shape[1]

    def native(wanted: Wanted | None = None) -> Tensor:
        context, _ = run(kernel, q, k, v, rule, wanted)
        assert context is not None
        return context

    return {
        "PyTorch": lambda: F.scaled_dot_product_attention(
            q, k, v, attn_mask=dense, is_causal=is_causal, enable_gqa=grouped
        ),
        "plain": native,
        "all": lambda: native(everything),
    }


def reference(case: Case) -> Tensor:
    """The output in float64, a head at a time."""
    groups = case.query.shape[1] // case.key.shape[1]
    k, v = (t.double().repeat_interleave(groups, 1) for t in (case.key, case.value))
    parts = []
    for b in range(case.query.shape[0]):
        for h in range(case.query.shape[1]):
            scores = case.query[b, h].double() @ k[b, h].mT * case.query.shape[-1] ** -0.5
            if case.mask is not None:
                scores.masked_fill_(~case.mask.dense(*scores.shape), -math.inf)
            parts.append(scores.softmax(-1) @ v[b, h])
    return torch.stack(parts).view(case.query.shape[:3] + v.shape[-1:])


if __name__ == "__main__":
    raise SystemExit(main())
