"""regard.attend with gradients against PyTorch's fused attention, forward and back together.

    python benchmarks/gradient.py [--variant avx2] [--threads 1,2] [--rounds N]

The shapes are those of the package's models in training: batch 64, 4 heads, 10 to 60 tokens; all
keys, causal, and padded (a boolean mask of the keys, sentences of half to full length). Then longer
ones. Goals: 1.3 on the models' shapes, 1.0 on the others. Least times of interleaved rounds; exits
with 1 if a goal is not met. ``--variant avx2`` holds PyTorch to AVX2 as benchmarks/kernel.py does.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Callable

import torch
import torch.nn.functional as F
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
    parser.add_argument("--rounds", type=int, default=60, help="turns (default 60)")
    options = parser.parse_args()
    held = HELD.get(options.variant, {})
    wanted = {**held, **({library.SWITCH: options.variant} if options.variant else {})}
    if any(os.environ.get(name) != value for name, value in wanted.items()):
        return subprocess.run([sys.executable, *sys.argv], env={**os.environ, **wanted}).returncode
    kernel = library.found()
    if isinstance(kernel, str):
        print(f"the native kernel is not in use: {kernel}")
        return 1
    fine = True
    for threads in (int(n) for n in options.threads.split(",")):
        torch.set_num_threads(threads)
        torch.manual_seed(0)
        print(f"torch {torch.__version__}, kernel {kernel.variant}, {threads} thread(s), float32")
        print(f"PyTorch {'held to it' if held else 'as it comes'}; forward and back together\n")
        print(f"  {'batch, heads, tokens, width':<30} {'PyTorch':>10} {'regard':>10} {'ratio':>7}")
        for goal, shapes in ((1.3, MODELS), (1.0, OTHERS)):
            for shape in shapes:
                for name, mask in masks(shape[0], shape[2]).items():
                    fine &= compare(shape, name, mask, goal, options.rounds)
        print()
    return 0 if fine else 1


def masks(batch: int, tokens: int) -> dict[str, Mask | Tensor | None]:
    lengths = torch.linspace(max(1, tokens // 2), tokens, batch).round().long()
    padding = (torch.arange(tokens) < lengths[:, None])[:, None, None]
    return {"": None, "causal": causal(), "padded": padding}


def compare(
    shape: tuple[int, int, int, int],
    name: str,
    mask: Mask | Tensor | None,
    goal: float,
    rounds: int,
) -> bool:
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
    times = interleaved(ways, rounds=rounds, seconds=0.004)
    ratio = times["PyTorch"].least / times["regard"].least
    batch, heads, tokens, width = shape
    print(
        f"  {f'{batch}, {heads}, {tokens}, {width} {name}':<30} "
        f"{format_seconds(times['PyTorch'].least):>10} "
        f"{format_seconds(times['regard'].least):>10} {ratio:>7.2f}"
        f"{'' if ratio >= goal else '  NOT MET'}",
        flush=True,
    )
    return ratio >= goal


if __name__ == "__main__":
    raise SystemExit(main())
