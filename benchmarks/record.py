"""What it costs that every mechanism could be recorded, while nobody records.

    python benchmarks/record.py [--rounds N] [--threads N]

A forward pass of MultiHeadAttention (width 512, 8 heads, 32 tokens) as it is, against the same
source with every line about recording taken out before it is compiled. The goal is less than 1%.
The difference is a few microseconds, below the noise of the matrix products, so it is measured
twice: directly, and on a layer of width 8 with 1 token, which runs exactly the same lines and
hardly anything else. The goal is judged by the second. With a recorder active the explained path
runs and every value is copied: that is the line "on".

Exits with 1 if the goal is missed.
"""

from __future__ import annotations

import argparse
import ast
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType

import torch
from goals import Goal, tell
from timing import Time, format_seconds, interleaved
from torch import Tensor

import regard
from regard.attention import Attended

WIDTH, HEADS, TOKENS = 512, 8, 32
GOAL = 0.01
FILES = ("mask", "score", "fused", "attend", "self_attention", "multihead")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=1000, help="turns of each way (default 1000)")
    parser.add_argument("--threads", type=int, default=1, help="of PyTorch's (default 1)")
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    with torch.no_grad():
        times = measure(WIDTH, TOKENS, options.rounds)
        lines = measure(HEADS, 1, options.rounds)
    base = times["taken out"]
    print(f"torch {torch.__version__}, {options.threads} thread(s), float32, no gradients,")
    print(f"MultiHeadAttention width {WIDTH}, {HEADS} heads, {TOKENS} tokens;")
    print(f"{options.rounds} interleaved rounds")
    print()
    print(f"  {'recording':<10} {'least':>9} {'ratio':>7} {'median':>9} {'ratio':>7}")
    for name, time in times.items():
        print(
            f"  {name:<10} {format_seconds(time.least):>9} {time.least / base.least:>7.3f} "
            f"{format_seconds(time.median):>9} {time.median / base.median:>7.3f}"
        )
    cost = lines["off"].least - lines["taken out"].least
    share = cost / base.least
    print()
    print(f"  the lines about recording alone, off: {format_seconds(max(cost, 0))} a pass,")
    what = "recording that is off: share of a pass of MultiHeadAttention"
    return tell([Goal(what, 100 * share, 100 * GOAL, " %", most=True)])


def measure(width: int, tokens: int, rounds: int) -> dict[str, Time]:
    """Time a forward pass with the lines about recording taken out, off and on."""
    layer = regard.MultiHeadAttention(width, HEADS).eval()
    bare = silent_copy()["multihead"].MultiHeadAttention(width, HEADS).eval()
    for name, linear in layer.named_children():
        setattr(bare, name, linear)  # the same memory: where a matrix lies can make 3% by itself
    x = torch.randn(1, tokens, width)

    def recorded() -> Tensor:
        with regard.record():
            found: Attended = layer(x)
            return found.context

    assert torch.equal(layer(x).context, bare(x).context)
    ways = {"taken out": lambda: bare(x), "off": lambda: layer(x), "on": recorded}
    return interleaved(ways, rounds=rounds, seconds=0.002)


class Silence(ast.NodeTransformer):
    """Takes note(…), recording() and ``with leading(…)`` out of a source."""

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        return ast.Pass() if _calls(node.value, "note", "note_projections") else node

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return ast.Constant(False) if _calls(node, "recording") else node

    def visit_With(self, node: ast.With) -> ast.AST | list[ast.stmt]:
        self.generic_visit(node)
        return node.body if _calls(node.items[0].context_expr, "leading", "scope") else node


def _calls(node: ast.AST, *names: str) -> bool:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in names


def silent_copy() -> dict[str, ModuleType]:
    """The modules of regard.attention once more, with no line about recording in them."""
    names = {name: f"regard.attention.{name}" for name in FILES}
    originals = {full: import_module(full) for full in names.values()}
    copies = {}
    try:
        for name, full in names.items():
            path = Path(str(originals[full].__file__))
            tree = Silence().visit(ast.parse(path.read_text(encoding="utf-8")))
            copies[name] = sys.modules[full] = ModuleType(full)
            code = compile(ast.fix_missing_locations(tree), str(path), "exec")
            exec(code, copies[name].__dict__)
    finally:
        sys.modules.update(originals)
    return copies


if __name__ == "__main__":
    raise SystemExit(main())
