"""regard.attend against PyTorch's fused attention called directly.

    python benchmarks/attend.py [--rounds N] [--threads N]

The fast path adds checks and a choice of kernel to one call of F.scaled_dot_product_attention;
the goal is to cost at most 3% at 128 and at 2,048 tokens. Where it hands the kernel a better form
(three axes folded to four, a window cut into blocks) it is faster than the direct call.

Exits with 1 if a goal is missed.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

import torch
import torch.nn.functional as F
from goals import Goal, tell
from timing import format_seconds, interleaved

import regard
from regard.attention import causal, window

HEADS, WIDTH, REACH = 8, 64, 128
GOAL = 1.03


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--rounds", type=int, default=100, help="turns at 2,048 tokens (default 100)"
    )
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch's (default 1)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    print(f"torch {torch.__version__}, {options.threads} thread(s), float32, no gradients,")
    print(
        f"{HEADS} heads of {WIDTH}; least time of interleaved rounds, and the ratio of the medians"
    )
    print()
    print(f"  {'what':<38} {'PyTorch':>10} {'regard':>10} {'ratio':>7} {'median':>7}")
    goals = []
    with torch.no_grad():
        for tokens, rounds in ((128, 20 * options.rounds), (2048, options.rounds)):
            goals.append(compare(f"{tokens:,} tokens, all keys", rounds, *full(tokens), goal=GOAL))
            goals.append(compare(f"{tokens:,} tokens, causal", rounds, *masked(tokens), goal=GOAL))
        few = max(3, options.rounds // 20)
        goals.append(compare("2,048 tokens, (heads, n, width)", few, *three_axes(2048)))
        goals.append(compare(f"8,192 tokens, window of {REACH}, as mask", few, *windowed(8192)))
    return tell(goals)


Pair = tuple[Callable[[], object], Callable[[], object]]


def compare(
    what: str,
    rounds: int,
    direct: Callable[[], object],
    ours: Callable[[], object],
    goal: float = 1.0,
) -> Goal:
    """Print one line: both times, the ratio of the least and of the median."""
    times = interleaved({"PyTorch": direct, "regard": ours}, rounds=rounds, seconds=0.001)
    theirs, our = times["PyTorch"], times["regard"]
    ratio, median = our.least / theirs.least, our.median / theirs.median
    print(
        f"  {what:<38} {format_seconds(theirs.least):>10} {format_seconds(our.least):>10} "
        f"{ratio:>7.3f} {median:>7.3f}"
    )
    return Goal(f"`regard.attend` / PyTorch's attention: {what}", ratio, goal, most=True)


def full(tokens: int) -> Pair:
    q, k, v = torch.randn(3, 1, HEADS, tokens, WIDTH)
    return lambda: F.scaled_dot_product_attention(q, k, v), lambda: regard.attend(q, k, v)


def masked(tokens: int) -> Pair:
    q, k, v = torch.randn(3, 1, HEADS, tokens, WIDTH)
    return (
        lambda: F.scaled_dot_product_attention(q, k, v, is_causal=True),
        lambda: regard.attend(q, k, v, mask=causal()),
    )


def three_axes(tokens: int) -> Pair:
    q, k, v = torch.randn(3, HEADS, tokens, WIDTH)
    return lambda: F.scaled_dot_product_attention(q, k, v), lambda: regard.attend(q, k, v)


def windowed(tokens: int) -> Pair:
    q, k, v = torch.randn(3, 1, HEADS, tokens, WIDTH)
    near = window(REACH)
    dense = near.dense(tokens)
    return (
        lambda: F.scaled_dot_product_attention(q, k, v, attn_mask=dense),
        lambda: regard.attend(q, k, v, mask=near),
    )


if __name__ == "__main__":
    raise SystemExit(main())
