"""regard.attend with gradients against PyTorch's fused attention, forward and back together.

    python benchmarks/gradient.py [--variant avx2] [--threads 1,2] [--processes N] [--rounds N]
                                  [--only 64,4,20,32 …]

The shapes are those of the package's models in training: batch 64, 4 heads, 10 to 60 tokens; all
keys, causal, and padded (a boolean mask of the keys, sentences of half to full length). Then longer
ones. Goals: 1.3 on the models' shapes, 1.0 on the others. Least times of interleaved rounds, of
several processes; exits with 1 if a goal is not met. ``--variant avx2`` holds PyTorch to AVX2 as
benchmarks/kernel.py does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass

import torch
import torch.nn.functional as F
from goals import Goal, tell
from kernel import HELD
from timing import format_seconds, interleaved
from torch import Tensor

import regard
from regard.attention import Mask, causal
from regard.attention.kernel import library

MODELS = (*((64, 4, tokens, 32) for tokens in (10, 20, 40, 60)), (64, 4, 30, 64))
OTHERS = ((8, 8, 128, 64), (4, 8, 256, 64), (1, 8, 512, 64))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--variant", default="", help="avx512, avx2 or portable")
    parser.add_argument("--threads", default="1,2", help="thread counts (default 1,2)")
    parser.add_argument("--processes", type=int, default=3, help="best of so many (default 3)")
    parser.add_argument("--rounds", type=int, default=30, help="turns (default 30)")
    parser.add_argument("--only", nargs="+", help="these shapes: batch,heads,tokens,width")
    parser.add_argument("--measure", type=int, help=argparse.SUPPRESS)  # a process of its own
    options = parser.parse_args()
    if options.measure:
        lines = measure(options.measure, options.rounds, options.only)
        print(json.dumps([asdict(line) for line in lines]))
        return 0
    kernel = library.load(library.PATH, options.variant)
    counts = [int(n) for n in options.threads.split(",")]
    if isinstance(kernel, str):
        print(f"the native kernel is not in use: {kernel}")
        return tell(goal for n in counts for goal in goals(options.variant or "native", n, []))
    found = [goal for n in counts for goal in compare(kernel.variant, n, options)]
    return tell(found)


@dataclass
class Line:
    """What a process measured of a shape: the least seconds of each way."""

    name: str
    goal: float
    theirs: float
    ours: float

    @property
    def ratio(self) -> float:
        return self.theirs / self.ours

    def __str__(self) -> str:
        return (
            f"  {self.name:<30} {format_seconds(self.theirs):>10} {format_seconds(self.ours):>10} "
            f"{self.ratio:>7.2f}{'' if self.ratio >= self.goal else '  NOT MET'}"
        )


def compare(variant: str, threads: int, options: argparse.Namespace) -> list[Goal]:
    """Print the table for so many threads; its goals."""
    held = HELD.get(variant, {})
    print(f"torch {torch.__version__}, kernel {variant}, {threads} thread(s), float32")
    print(f"PyTorch {'held to it' if held else 'as it comes'}; forward and back together;")
    print(f"least times of {options.processes} process(es)\n")
    print(f"  {'batch, heads, tokens, width':<30} {'PyTorch':>10} {'regard':>10} {'ratio':>7}")
    command = [sys.executable, *sys.argv, "--measure", str(threads)]
    environment = {**os.environ, **held, library.SWITCH: variant}
    lines: list[Line] = []
    for _ in range(options.processes):
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=True)
        again = [Line(**fields) for fields in json.loads(done.stdout)]
        for line, other in zip(lines, again, strict=bool(lines)):
            line.theirs, line.ours = min(line.theirs, other.theirs), min(line.ours, other.ours)
        lines = lines or again
    print(*lines, "", sep="\n")
    return goals(variant, threads, lines)


def goals(variant: str, threads: int, lines: list[Line]) -> list[Goal]:
    """Of the models' shapes and of the others, the worst line; without lines, not measured."""
    where = f"{variant}, {threads} thread{'s' if threads > 1 else ''}"
    found = []
    for kind, bound in (("the models' shapes", 1.3), ("longer", 1.0)):
        worst = min((li for li in lines if li.goal == bound), key=lambda li: li.ratio, default=None)
        name = f"with gradients, {kind}, {where}" + (f": {worst.name}, the worst" if worst else "")
        found.append(Goal(name, None if worst is None else worst.ratio, bound, " x"))
    return found


def measure(threads: int, rounds: int, only: list[str] | None) -> list[Line]:
    """Every shape, or ``only`` these, in this process, by the kernel its environment asks for."""
    torch.set_num_threads(threads)
    torch.manual_seed(0)
    return [
        measured(shape, name, mask, goal, rounds)
        for goal, shapes in ((1.3, MODELS), (1.0, OTHERS))
        for shape in shapes
        if only is None or ",".join(map(str, shape)) in only
        for name, mask in masks(shape[0], shape[2]).items()
    ]


def masks(batch: int, tokens: int) -> dict[str, Mask | Tensor | None]:
    lengths = torch.linspace(max(1, tokens // 2), tokens, batch).round().long()
    padding = (torch.arange(tokens) < lengths[:, None])[:, None, None]
    return {"": None, "causal": causal(), "padded": padding}


def measured(
    shape: tuple[int, int, int, int],
    name: str,
    mask: Mask | Tensor | None,
    goal: float,
    rounds: int,
) -> Line:
    query, key, value = (torch.randn(shape, requires_grad=True) for _ in range(3))
    upstream = torch.randn(shape)
    dense = mask if isinstance(mask, Tensor) else None

    def theirs() -> Tensor:
        return F.scaled_dot_product_attention(
            query, key, value, attn_mask=dense, is_causal=name == "causal"
        )

    def ours() -> Tensor:
        return regard.attend(query, key, value, mask=mask).context

    def both(attention: Callable[[], Tensor]) -> Callable[[], object]:
        return lambda: torch.autograd.grad(attention(), (query, key, value), upstream)

    ways = {"PyTorch": both(theirs), "regard": both(ours)}
    few = rounds if shape[2] <= 128 else max(3, rounds // 3)
    times = interleaved(ways, rounds=few, seconds=0.004)
    batch, heads, tokens, width = shape
    title = f"{batch}, {heads}, {tokens}, {width} {name}".rstrip()
    return Line(title, goal, times["PyTorch"].least, times["regard"].least)


if __name__ == "__main__":
    raise SystemExit(main())
