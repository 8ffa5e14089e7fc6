"""regard's native kernel against PyTorch's fused attention, plain and with every statistic.

    python benchmarks/kernel.py [--variant avx2] [--threads 1,2] [--processes N] [--rounds N]
                                [--only 32,8,32,64 …]

Each line: F.scaled_dot_product_attention's time and rate, how many times as fast the kernel is, and
how many times as fast it is with log-sum-exp, top 8, entropy, received attention and both pooled
maps (64 x 64 cells) computed in the same pass, all against PyTorch's attention alone. Then the
largest error of the output against float64, ours and PyTorch's.

``--variant avx2`` holds PyTorch, MKL and oneDNN to AVX2 as well as the kernel, for every process
of the measurement: the comparison of a machine that has no AVX-512.

Least times of interleaved rounds, of several processes (where memory lies is luck, and stays for a
process's life). Goals: plain at least 1.2 on every shape, 1.5 in the geometric mean; with
everything at least 1.0; single queries at least 1.0; error at most twice PyTorch's. Exits with 1 if
a goal is not met; there is no allowance for noise.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from goals import Goal, tell
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
HELD = {
    "avx2": {
        "ATEN_CPU_CAPABILITY": "avx2",
        "MKL_ENABLE_INSTRUCTIONS": "AVX2",
        "ONEDNN_MAX_CPU_ISA": "AVX2",
    }
}
"""What holds PyTorch and its libraries to a variant's instructions; the last is as they come."""
MEAN_GOAL = 1.5


@dataclass(frozen=True)
class Case:
    """What is computed in one line, and what is asked of it."""

    name: str
    query: Tensor
    key: Tensor
    value: Tensor
    mask: Mask | None = None
    plain_goal: float | None = 1.2
    all_goal: float | None = 1.0
    counts: bool = False
    """Whether it is part of the geometric mean: full and causal attention of the usual shapes."""


@dataclass
class Line:
    """What a process measured of a case: the least seconds of each way, the largest errors."""

    name: str
    goals: tuple[float | None, float | None]
    counts: bool
    operations: float | None
    seconds: dict[str, float]
    errors: tuple[float, float]
    """Ours and PyTorch's."""

    def keep_least(self, other: Line) -> None:
        self.seconds = {way: min(self.seconds[way], other.seconds[way]) for way in self.seconds}

    def ratios(self) -> tuple[float, float]:
        theirs = self.seconds["PyTorch"]
        return theirs / self.seconds["plain"], theirs / self.seconds["all"]

    def met(self) -> bool:
        pairs = zip(self.goals, self.ratios(), strict=True)
        return all(goal is None or ratio >= goal for goal, ratio in pairs)

    def __str__(self) -> str:
        theirs = self.seconds["PyTorch"]
        rate = "" if self.operations is None else f" {self.operations / theirs / 1e9:4.0f} GF"
        plain, everything = self.ratios()
        return (
            f"  {self.name:<38} {format_seconds(theirs) + rate:>18}"
            f" {plain:>7.2f} {everything:>7.2f}"
            f"  {self.errors[0]:.0e} / {self.errors[1]:.0e}{'' if self.met() else '  NOT MET'}"
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", default="", help="avx512, avx2 or portable")
    parser.add_argument("--processes", type=int, default=3, help="best of so many (default 3)")
    parser.add_argument("--rounds", type=int, default=40, help="turns of the short shapes")
    parser.add_argument("--threads", default="1,2", help="thread counts (default 1,2)")
    parser.add_argument("--long", action="store_true", help="8,192 tokens too")
    parser.add_argument("--only", nargs="+", help="these shapes: batch,heads,tokens,width")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)  # a process of its own
    options = parser.parse_args()
    if options.measure:
        lines = measure(options.measure, options.rounds, options.long, options.only)
        print(json.dumps([asdict(line) for line in lines]))
        return 0
    kernel = library.load(library.PATH, options.variant)
    counts = [int(n) for n in options.threads.split(",")]
    if isinstance(kernel, str):
        print(f"the native kernel is not in use: {kernel}")
        return tell(goal for n in counts for goal in goals(options.variant or "native", n, []))
    found = [goal for n in counts for goal in compare(kernel.variant, n, options)]
    return tell(found)


def compare(variant: str, threads: int, options: argparse.Namespace) -> list[Goal]:
    """Print the table for so many threads; its goals."""
    held = HELD.get(variant, {})
    said = ", ".join(f"{name}={value}" for name, value in held.items())
    print(f"torch {torch.__version__}, kernel {variant}, {threads} thread(s), float32")
    print(f"PyTorch {f'held by {said}' if held else 'as it comes'}")
    print(f"least times of {options.processes} process(es); ratios to PyTorch's attention alone:")
    print("larger is faster; error against float64, ours / PyTorch's\n")
    print(f"  {'batch, heads, tokens, width':<38} {'PyTorch':>18} {'plain':>7} {'all':>7}  error")
    command = [sys.executable, *sys.argv, "--measure", str(threads)]
    environment = {**os.environ, **held, library.SWITCH: variant}
    lines: list[Line] = []
    for _ in range(options.processes):
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        again = [Line(**fields) for fields in json.loads(done.stdout)]
        for line, other in zip(lines, again, strict=bool(lines)):
            line.keep_least(other)
        lines = lines or again
    print(*lines, sep="\n")
    return goals(variant, threads, lines)


def goals(variant: str, threads: int, lines: list[Line]) -> list[Goal]:
    """Of each kind the line that is furthest from its goal; without lines, not measured."""
    where = f"{variant}, {threads} thread{'s' if threads > 1 else ''}"
    kinds = (("attention alone", 0, 1.2), ("single queries", 0, 1.0), ("all statistics", 1, 1.0))
    found = []
    for kind, way, bound in kinds:
        ratios = {line.name: line.ratios()[way] for line in lines if line.goals[way] == bound}
        worst = min(ratios, key=ratios.__getitem__, default="")
        name = f"{kind}, {where}" + (f": {worst}, the worst of {len(ratios)}" if worst else "")
        found.append(Goal(name, ratios.get(worst), bound, " x"))
    logs = [math.log(line.ratios()[0]) for line in lines if line.counts]
    mean = math.exp(sum(logs) / len(logs)) if logs else None
    found.append(Goal(f"attention alone, {where}: geometric mean", mean, MEAN_GOAL, " x"))
    errors = [line.errors[0] / line.errors[1] for line in lines]
    what = f"largest error of a line / PyTorch's, {where}"
    found.append(Goal(what, max(errors, default=None), 2.0, most=True))
    return found


def measure(threads: int, rounds: int, long: bool, only: list[str] | None) -> list[Line]:
    """Every case, or ``only`` these shapes, in this process, by the kernel that is asked for."""
    kernel = library.kernel()
    assert kernel is not None
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    with torch.no_grad():
        found = [case for case in cases(long) if is_asked_for(case.name, only)]
        return [measured(kernel, case, rounds) for case in found]


def is_asked_for(name: str, only: list[str] | None) -> bool:
    """Whether a line's name begins with one of these shapes; without any, every line is."""
    shape = name.replace(",", "").split()[:4]
    return only is None or shape in [text.split(",") for text in only]


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


def measured(kernel: library.Kernel, case: Case, rounds: int) -> Line:
    ways = ways_of(kernel, case)
    pairs = case.query.shape[:2].numel() * case.query.shape[2] * case.key.shape[2]
    few = max(3, min(rounds, int(rounds * 4e6 / pairs)))
    times = interleaved(ways, rounds=few, seconds=0.002)
    exact = reference(case)
    ours, theirs = (float((ways[way]() - exact).abs().max()) for way in ("plain", "PyTorch"))
    share = 0.5 if case.mask is not None and case.mask.causal else 1.0
    operations = 4 * pairs * case.query.shape[-1] * share
    return Line(
        case.name,
        (case.plain_goal, case.all_goal),
        case.counts,
        operations if case.mask is None or share < 1 else None,
        {way: time.least for way, time in times.items()},
        (ours, theirs),
    )


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
