"""Looking into a model: regard.observe against eager attention and its output_attentions.

    python benchmarks/look.py [--rounds N] [--threads N] [--part PART …]

A Llama of SmolLM2-135M's shape with random weights: 30 layers of 9 heads (3 key heads) of width
64. "All statistics" are, of each of the 270 heads, the 8 largest weights of each row, each row's
entropy, what each key receives, and the maximum and mean of a 256 x 256 grid. Parts:

    passes   2,048 tokens: the plain fused pass, and the same pass observed
    look     2,048 tokens: all statistics, each layer looked at as it runs
    eager    2,048 tokens: output_attentions, then the same statistics of these weights
    long     8,192 tokens: all statistics
    head     one causal head of 100,000 tokens: a pooled picture of 1,000 x 1,000 and a tile

Each part runs in a process of its own; its extra memory is the highest resident memory during the
work less that before it. Beside the time on the clock stands the time of the CPU, of all threads,
which other programs on the machine disturb less. Exits with 1 if a goal is missed, by the clock.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from goals import Goal, tell
from timing import Clock, Resident, format_seconds

import regard
from regard.attention import AttentionMap, causal
from regard.inside.observe.layer import ObservedLayer

TOKENS, LONG, HEAD = 2048, 8192, 100_000
TOP, CELLS = 8, 256
FASTER, LESS, OBSERVED, ROOM = 4.0, 0.1, 1.15, 3.0
"""Goals: times faster than eager, share of its memory, observed / plain, GB at 8,192 tokens."""
PARTS = ("passes", "look", "eager", "long", "head")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=2, help="repetitions, the least counts")
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--part", action="append", choices=PARTS, help="only these parts")
    parser.add_argument("--measure", choices=PARTS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.measure:
        print(json.dumps(measure(options.measure, options.rounds)))
        return 0
    print(f"torch {torch.__version__}, {options.threads} thread(s), float32, no gradients; Llama,")
    print("30 layers x 9 heads (3 key heads) of 64, random weights; least of", options.rounds)
    print()
    found: dict[str, Any] = {}
    for part in options.part or PARTS:
        command = [sys.executable, __file__, "--measure", part, "--rounds", str(options.rounds)]
        done = subprocess.run(
            [*command, "--threads", str(options.threads)], capture_output=True, text=True
        )
        if done.returncode:
            print(f"  {part}: failed\n{done.stderr}")
            return 1
        found[part] = json.loads(done.stdout.splitlines()[-1])
        for line in report(part, found):
            print(f"  {line}")
    return tell(goals(found))


def measure(part: str, rounds: int) -> dict[str, float]:
    torch.manual_seed(0)
    with torch.inference_mode():
        if part == "head":
            return measure_head()
        n = LONG if part == "long" else TOKENS
        model = make_model("eager" if part == "eager" else "sdpa")
        ids = torch.randint(0, model.config.vocab_size, (1, n))
        model(ids[:, :64])
        if part == "passes":
            return measure_passes(model, ids, rounds + 1)
        way = eager if part == "eager" else look
        return best(lambda: way(model, ids), 1 if part in ("eager", "long") else rounds)


def measure_passes(model: Any, ids: torch.Tensor, rounds: int) -> dict[str, float]:
    """Both passes in turn; the least of each."""
    ways: dict[str, Callable[[], object]] = {
        "plain": lambda: model(ids),
        "observed": lambda: observed(model, ids),
    }
    times: dict[str, list[tuple[float, float]]] = {name: [] for name in ways}
    for turn in range(rounds):
        for name in sorted(ways, reverse=bool(turn % 2)):
            with Clock() as clock:
                ways[name]()
            times[name].append((clock.seconds, clock.cpu))
    found = {}
    for name, pairs in times.items():
        found[name], found[f"{name}_cpu"] = (min(column) for column in zip(*pairs, strict=True))
    return found


def make_model(attention: str) -> Any:
    from transformers import LlamaConfig, LlamaModel

    options: dict[str, Any] = {"attn_implementation": attention}
    config = LlamaConfig(
        vocab_size=49152,
        hidden_size=576,
        intermediate_size=1536,
        num_hidden_layers=30,
        num_attention_heads=9,
        num_key_value_heads=3,
        max_position_embeddings=LONG,
        use_cache=False,
        **options,
    )
    model: Any = LlamaModel(config)
    return model.eval()


def observed(model: Any, ids: torch.Tensor) -> object:
    with regard.observe(model) as observation:
        model(ids)
    return observation


def look(model: Any, ids: torch.Tensor) -> list[object]:
    """All statistics; queries and keys of a layer are dropped after it was looked at."""
    kept: list[object] = []
    wanted: dict[str, Any] = {"top": TOP, "entropy": True, "received": True, "cells": CELLS}

    def each(layer: ObservedLayer) -> None:
        kept.append(observation.statistics(layer.number, **wanted))

    with regard.observe(model, each=each, statistics=wanted) as observation:
        model(ids)
    return kept


def eager(model: Any, ids: torch.Tensor) -> list[object]:
    """The same of the weights that the model gives; grids by PyTorch's pooling."""
    cell = TOKENS // CELLS
    kept: list[object] = []
    for weights in model(ids, output_attentions=True).attentions:
        a = weights[0]
        kept.append(
            (
                a.topk(TOP),
                torch.special.entr(a).sum(-1),
                a.sum(-2),
                F.max_pool2d(a, cell),
                F.avg_pool2d(a, cell),
            )
        )
    return kept


def measure_head() -> dict[str, float]:
    query, key = torch.randn(2, HEAD, 64)
    shown = AttentionMap.from_vectors(query, key, mask=causal())
    pooled = best(lambda: shown.pooled(1000), 1)
    with Clock() as clock:
        tile = shown.block((70_000, 70_512), (40_000, 40_512))
    return {**pooled, "tile": clock.seconds, "numbers": tile.numel()}


def best(run: Callable[[], object], rounds: int) -> dict[str, float]:
    """The least time, and the extra memory of the first run."""
    times, extra = [], 0.0
    for turn in range(rounds):
        with Resident() as memory, Clock() as clock:
            kept = run()
        times.append((clock.seconds, clock.cpu))
        extra = extra if turn else memory.extra
        del kept
    seconds, cpu = (min(column) for column in zip(*times, strict=True))
    return {"seconds": seconds, "cpu": cpu, "bytes": extra}


def report(part: str, found: dict[str, Any]) -> list[str]:
    """Lines about a part."""
    here = found[part]
    if part == "passes":
        lines = [
            line("2,048 tokens, plain fused pass", here["plain"], here["plain_cpu"]),
            line("2,048 tokens, observed", here["observed"], here["observed_cpu"]),
        ]
    else:
        title = {
            "look": "2,048 tokens, all statistics, regard",
            "eager": "2,048 tokens, the same, output_attentions",
            "long": "8,192 tokens, all statistics, regard",
            "head": "100,000 tokens, one head, 1,000 x 1,000",
        }[part]
        lines = [line(title, here["seconds"], here["cpu"], here["bytes"])]
    if part == "head":
        lines.append(line("  then any tile of 512 x 512", here["tile"]))
    return lines


def line(title: str, seconds: float, cpu: float | None = None, size: float | None = None) -> str:
    text = f"{title:<44} {format_seconds(seconds):>9}"
    text += "" if cpu is None else f" {format_seconds(cpu):>9} CPU"
    return text if size is None else f"{text} {size / 1e9:>7.2f} GB"


def goals(found: dict[str, Any]) -> list[Goal]:
    """Every goal; of parts that did not run, not measured."""
    passes, ours, theirs = (found.get(part) for part in ("passes", "look", "eager"))
    share = passes["observed"] / passes["plain"] if passes else None
    faster = theirs["seconds"] / ours["seconds"] if ours and theirs else None
    less = ours["bytes"] / theirs["bytes"] if ours and theirs else None
    room = found["long"]["bytes"] / 1e9 if "long" in found else None
    all_heads = "all statistics of 270 heads"
    return [
        Goal("observed pass / plain pass, 2,048 tokens", share, OBSERVED, most=True),
        Goal(f"{all_heads}, as fast as output_attentions, 2,048 tokens", faster, FASTER, " x"),
        Goal(f"{all_heads}: share of its memory", less, LESS, most=True),
        Goal(f"{all_heads}: memory at 8,192 tokens", room, ROOM, " GB", most=True),
    ]


if __name__ == "__main__":
    raise SystemExit(main())
