"""How cost grows: time and memory against tokens, heads, sentence length and batch, as pictures.

    python benchmarks/growth.py [--folder docs/images] [--points FILE] [tokens heads length batch]

    tokens  a plain pass of a small model (2 layers of 8 heads and 2 key heads of 64, random
            weights), the same observed, `look`, a page from the pass to the file, and `serve`
            from the pass to the overview
    heads   the same of one layer, 512 tokens, 2 to 32 heads of 32
    length  a training step of LSTMN, SimpleRNN + self-attention and nn.LSTM: batch 8, width 128
    batch   decoding with beam 5: the shipped Transformer and Bahdanau's design, sentences alike

Each point is measured in a process of its own, forked from one that has everything loaded: seconds
of the processor, one thread, the least of some runs; memory is the most that the process rose by.
An exponent p means that the cost grows as x^p: the slope of a line through the upper half of the
points, both axes logarithmic. Each kind becomes growth-KIND.png. With ``--points`` what is measured
is kept in a file, and what stands in it is not measured again.
"""

from __future__ import annotations

import argparse
import json
import math
import multiprocessing
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from timing import Clock, Resident
from torch import nn

import regard
from regard.inside.look.exploration import Exploration
from regard.inside.look.look import look
from regard.inside.look.page import subject_of_text
from regard.inside.textmodel import TextModel
from regard.models.translators.beam import translate_batch
from regard.pieces.pieces import Pieces
from regard.recurrent import LSTMN, SelfAttentiveRNN
from regard.store.shipped import find_translator
from regard.views.page.file import save_html

TOKENS = (512, 1024, 2048, 4096, 8192, 16_384)
HEADS, HEADS_AT = (2, 4, 8, 16, 32), 512
LENGTHS = (32, 64, 128, 256, 512, 1024)
BATCHES = (1, 2, 4, 8, 16, 32, 64, 128)
ENOUGH = 0.3
"""Seconds after which a point is not measured once more."""
VOCABULARY, BATCH, HIDDEN = 1000, 8, 128
SAID = "Können Sie mir helfen, diesen Satz zu übersetzen?"
Run = Callable[[], object]


class Point(NamedTuple):
    """What was measured of one line at one size."""

    kind: str
    name: str
    x: int
    seconds: float
    bytes: float


# ---- what is measured: of each kind, lines of (name, size, what to run)


def tokens() -> Iterator[tuple[str, int, Run]]:
    model = make_model(layers=2, heads=8, key_heads=2, width=64)
    for n in TOKENS:
        yield from ((name, n, run) for name, run in looks(model, n).items())


def heads() -> Iterator[tuple[str, int, Run]]:
    for n in HEADS:
        model = make_model(layers=1, heads=n, key_heads=n, width=32)
        yield from ((name, n, run) for name, run in looks(model, HEADS_AT).items())


def length() -> Iterator[tuple[str, int, Run]]:
    networks: dict[str, Any] = {
        "LSTMN": LSTMN(HIDDEN, HIDDEN),
        "SimpleRNN + self-attention": SelfAttentiveRNN(HIDDEN, HIDDEN),
        "nn.LSTM": nn.LSTM(HIDDEN, HIDDEN),
    }
    for n in LENGTHS:
        for name, network in networks.items():
            yield name, n, partial(train_step, network, n)


def batch() -> Iterator[tuple[str, int, Run]]:
    for name in ("transformer", "bahdanau"):
        model, tokenizer = find_translator(name)
        ids = torch.tensor([tokenizer.encode(SAID)])
        for n in BATCHES:
            source, sizes = ids.expand(n, -1).contiguous(), torch.full((n,), ids.shape[1])
            yield name, n, partial(translate_batch, model, source, sizes, beam=5)


KINDS = {
    "tokens": (tokens, "tokens"),
    "heads": (heads, f"heads of one layer, {HEADS_AT:,} tokens"),
    "length": (length, "words of a sentence"),
    "batch": (batch, "sentences at a time"),
}


def make_model(layers: int, heads: int, key_heads: int, width: int) -> TextModel:
    from transformers import AutoModelForCausalLM, LlamaConfig

    torch.manual_seed(0)
    config: Any = LlamaConfig(
        vocab_size=VOCABULARY,
        hidden_size=heads * width,
        intermediate_size=2 * heads * width,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        num_key_value_heads=key_heads,
        max_position_embeddings=max(TOKENS),
    )
    auto: Any = AutoModelForCausalLM
    return TextModel("llama", auto.from_config(config).eval(), Words(), None, config)


class Words:
    """A tokenizer that only names tokens."""

    def decode(self, ids: list[int], **_: object) -> str:
        return " ".join(map(str, ids))

    def id_to_token(self, number: int) -> str:
        return str(number)


def looks(model: TextModel, n: int) -> dict[str, Run]:
    """A plain pass over n tokens, and every way to look at it."""
    torch.manual_seed(1)
    ids = torch.randint(0, VOCABULARY, (n,)).tolist()
    pieces = Pieces.plain([str(i) for i in ids], ids)

    def observe() -> object:
        with regard.observe(model.network, values=True) as observation:
            model.run(pieces, last=True)
        return observation

    def page() -> None:
        with tempfile.TemporaryDirectory() as folder:
            save_html(Path(folder) / "page.html", subject_of_text(model, pieces))

    def serve() -> object:
        found = Exploration(model, pieces, None, " ".join(pieces.labels))
        found.run(lambda: None)
        for number in range(len(found.observation.layers)):
            found.heads(number)
        return found

    return {
        "plain pass": lambda: model.run(pieces, last=True),
        "observe": observe,
        "look": lambda: look(model, pieces),
        "page": page,
        "serve": serve,
    }


def train_step(network: Any, n: int) -> None:
    output = network(torch.ones(n, BATCH, HIDDEN))
    (output[0] if isinstance(output, tuple) else output).sum().backward()


# ---- measuring, fitting, drawing


def measured(run: Run) -> tuple[float, float]:
    """In a process of its own, so that memory given back by one run does not serve the next."""
    context = multiprocessing.get_context("fork")
    here, there = context.Pipe(duplex=False)
    process = context.Process(target=measure, args=(run, there))
    process.start()
    there.close()
    seconds, extra = here.recv()
    process.join()
    return seconds, extra


def measure(run: Run, to: Any) -> None:
    with Resident() as memory, Clock() as clock:
        kept = run()
    least, spent = clock.cpu, clock.cpu
    del kept
    for _ in range(4):
        if spent > ENOUGH:
            break
        with Clock() as clock:
            run()
        least, spent = min(least, clock.cpu), spent + clock.cpu
    to.send((least, memory.extra))


def exponent(points: list[Point], what: str) -> float:
    """The slope of a line through the upper half of the points, by least squares."""
    upper = points[len(points) // 2 :]
    xs = [math.log(point.x) for point in upper]
    ys = [math.log(max(getattr(point, what), 1e-9)) for point in upper]
    return float(np.polyfit(xs, ys, 1)[0])


def draw(lines: dict[str, list[Point]], label: str, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, both = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
    for axes, what, unit in zip(both, ("seconds", "bytes"), ("seconds", "MB"), strict=True):
        size = 1.0 if unit == "seconds" else 1e-6
        for (name, points), marker in zip(lines.items(), "osv^D", strict=False):
            ys = [getattr(point, what) * size for point in points]
            power = exponent(points, what)
            axes.plot([p.x for p in points], ys, marker=marker, label=f"{name}  {power:.1f}")
        axes.set_xscale("log", base=2)
        axes.set_yscale("log")
        ticks = [point.x for point in next(iter(lines.values()))]
        axes.set_xticks(ticks, [f"{x:,}" for x in ticks])
        axes.set_xlabel(label)
        axes.set_title("time, s" if unit == "seconds" else "memory, MB")
        axes.legend(
            title="grows with exponent", fontsize="small", title_fontsize="small", framealpha=0.6
        )
    figure.savefig(path, dpi=110)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("kinds", nargs="*", metavar="KIND", help=", ".join(KINDS))
    parser.add_argument("--folder", type=Path, default=Path("docs/images"))
    parser.add_argument("--points", type=Path, help="a file that keeps what was measured")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for kind in options.kinds or KINDS:
        lines = measure_kind(kind, options.points)
        sizes = ", ".join(f"{point.x:,}" for point in next(iter(lines.values())))
        print(f"\n{kind}: seconds and bytes at {sizes}; exponent")
        for name, points in lines.items():
            for what in ("seconds", "bytes"):
                cells = "".join(f"{getattr(p, what):>9.3g}" for p in points)
                print(f"  {name:<28} {what:<8}{cells}   {exponent(points, what):.2f}")
        draw(lines, KINDS[kind][1], options.folder / f"growth-{kind}.png")


def measure_kind(kind: str, file: Path | None) -> dict[str, list[Point]]:
    """By line, its points; those that stand in ``file`` are taken from there, new ones added."""
    known = [] if file is None or not file.exists() else file.read_text("utf-8").splitlines()
    points = [Point(*json.loads(line)) for line in known]
    lines: dict[str, list[Point]] = {}
    for name, x, run in KINDS[kind][0]():
        found = [point for point in points if point[:3] == (kind, name, x)]
        if not found:
            found = [Point(kind, name, x, *measured(run))]
            if file is not None:
                with file.open("a", encoding="utf-8") as to:
                    to.write(json.dumps(found[0]) + "\n")
        lines.setdefault(name, []).append(found[-1])
    return lines


if __name__ == "__main__":
    main()
