"""Looking at long texts: the whole command beside the model's own pass; how time and memory grow.

    python benchmarks/long.py [--part PART …]

    page      `regard look smollm2 --file …` of 8,000 tokens, from its start to the written page of
              a layer. Goal: at most 1.3 times a plain forward pass over the same text.
    overview  `regard serve smollm2`, a text of 4,032 tokens until its overview is there, and the
              share of a plain pass in it
    context   a Llama of random weights (2 layers of 2 heads and 1 key head of 64): all that `regard
              look` computes, and `regard.observe` alone, which keeps queries and keys, at 8,192,
              32,768 and 100,000 tokens. Goal: memory beyond the model grows with an exponent of at
              most 1.1.
    window    a Mistral with a window of 1,024 at 4,096 and 8,192 tokens: transformers gives it a
              mask of all pairs

Seconds are of the processor, all threads together: other programs on the machine disturb these
less than the clock. SmolLM2 is not fetched: without it two parts are not measured.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from goals import Goal, tell
from serve import STORY, ask
from timing import Clock, Resident

from regard.inside.pinned import PINNED

TOKENS, OVERVIEW = 8000, 4032
LAYERS, LAYER = 30, 12
"""Of SmolLM2, and the one that is written."""
LENGTHS, WINDOWED = (8192, 32_768, 100_000), (4096, 8192)
SHARE, EXPONENT = 1.3, 1.1
"""Goals: the command / the pass; growth of memory with the tokens."""
PARTS = ("page", "overview", "context", "window")
WAYS = ("look", "observe")


TOKENS_OF_STORY = 19


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--part", action="append", choices=PARTS, help="only these parts")
    parser.add_argument("--plain", metavar="FILE", help=argparse.SUPPRESS)  # processes of their own
    parser.add_argument("--random", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.plain or options.random:
        print(json.dumps(plain(options.plain) if options.plain else of_random(*options.random)))
        return 0
    parts = options.part or PARTS
    goals = []
    with tempfile.TemporaryDirectory() as folder:
        if "page" in parts:
            goals.append(page(Path(folder)))
        if "overview" in parts:
            overview(Path(folder))
    if "context" in parts:
        goals += [growing("llama", way, LENGTHS) for way in WAYS]
    if "window" in parts:
        growing("mistral", "look", WINDOWED)
    return tell(goals)


def page(folder: Path) -> Goal:
    """The command beside the pass."""
    what = f"`look smollm2` of {TOKENS:,} tokens to the written page / a plain pass, processor time"
    if not PINNED["smollm2"].complete:
        return Goal(what, None, SHARE, most=True)
    text = story(folder, TOKENS)
    alone = own_process("--plain", str(text))
    command = ["look", "smollm2", "--file", str(text), "--layer", str(LAYER)]
    before = os.times()
    to = ["--html", str(folder / "page.html")]
    subprocess.run([sys.executable, "-m", "regard", *command, *to], check=True, capture_output=True)
    after = os.times()
    spent = after.children_user + after.children_system
    spent -= before.children_user + before.children_system
    print(f"smollm2, {alone['tokens']:,} tokens: plain pass {alone['cpu']:.1f} s, the command to")
    print(f"its page of a layer {spent:.1f} s of the processor: {spent / alone['cpu']:.2f}")
    return Goal(what, spent / alone["cpu"], SHARE, most=True)


def overview(folder: Path) -> None:
    """What the server spends until the overview of a text is there, and on what."""
    if not PINNED["smollm2"].complete:
        return
    text = story(folder, OVERVIEW)
    alone = own_process("--plain", str(text))
    command = [sys.executable, "-m", "regard", "serve", "smollm2", "--port", "0"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert server.stdout is not None
    address = server.stdout.readline().split(" at ")[1].split()[0].rstrip("/")
    try:
        spent = [processor_seconds(server.pid)]
        question = {"model": "smollm2", "text": text.read_text("utf-8")}
        look = json.loads(ask(address, "/api/looks", question)[1])
        place = f"/api/looks/{look['id']}"
        while json.loads(ask(address, place)[1])["state"] in ("queued", "running"):
            time.sleep(0.2)
        spent.append(processor_seconds(server.pid))
        ask(address, f"{place}/document")
        for layer in range(LAYERS):
            ask(address, f"{place}/layers/{layer}")
        spent.append(processor_seconds(server.pid))
    finally:
        server.send_signal(signal.SIGINT)
        server.wait(30)
    read, shown = spent[1] - spent[0], spent[2] - spent[1]
    print(f"serve, smollm2, {look['tokens']:,} tokens: read in {read:.1f} s of the processor, then")
    print(f"the overview of all {LAYERS} layers in {shown:.1f} s; a plain pass takes")
    print(f"{alone['cpu']:.1f} s, {alone['cpu'] / (read + shown):.0%} of both together")


def growing(family: str, way: str, lengths: tuple[int, ...]) -> Goal:
    """Time and memory at each length, each in a process of its own."""
    print(f"{way}, {family}, random weights")
    found = []
    for tokens in lengths:
        here = own_process("--random", family, way, str(tokens))
        found.append(here["bytes"])
        cells = f"{here['cpu']:>8.1f} s {here['bytes'] / 1e6:>8.0f} MB"
        print(f"  {tokens:>7,} tokens {cells}", flush=True)
    growth = math.log(found[-1] / found[0]) / math.log(lengths[-1] / lengths[0])
    print(f"  memory grows with an exponent of {growth:.2f}")
    what = f"memory of {way}, {lengths[0]:,} to {lengths[-1]:,} tokens: exponent"
    return Goal(what, growth, EXPONENT, most=True)


# ---- in processes of their own


def plain(file: str) -> dict[str, float]:
    """A forward pass of SmolLM2 without observing anything."""
    from regard.inside.textmodel import load

    model = load("smollm2")
    tokens = model.read(Path(file).read_text("utf-8"))
    model.run(tokens.beginning(64))
    with Clock() as clock:
        model.run(tokens, last=True)
    return {"cpu": clock.cpu, "tokens": len(tokens)}


def of_random(family: str, way: str, count: str) -> dict[str, float]:
    """A look at so many tokens, or an observation, by a model of random weights."""
    import torch

    import regard
    from regard.inside.look.look import look
    from regard.inside.textmodel import TextModel
    from regard.pieces.pieces import Pieces

    torch.manual_seed(0)
    torch.set_num_threads(1)
    network, config = windowed() if family == "mistral" else long_context()
    model = TextModel(family, network.eval(), None, None, config)
    ids = torch.randint(0, config.vocab_size, (int(count),)).tolist()
    pieces = Pieces.plain([str(i) for i in ids], ids)
    look(model, pieces.beginning(2048))
    with Resident() as memory, Clock() as clock:
        if way == "look":
            found = look(model, pieces)
            assert found.done == found.layers
        else:
            with regard.observe(network) as observation:
                model.run(pieces, last=True)
            assert len(observation.layers) == config.num_hidden_layers
    return {"cpu": clock.cpu, "bytes": memory.extra}


def long_context() -> tuple[Any, Any]:
    from transformers import LlamaConfig, LlamaModel

    config: Any = LlamaConfig(
        vocab_size=1000,
        hidden_size=128,
        intermediate_size=352,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=1,
        max_position_embeddings=max(LENGTHS),
    )
    made: Any = LlamaModel(config)
    return made, config


def windowed() -> tuple[Any, Any]:
    from transformers import MistralConfig, MistralModel

    config: Any = MistralConfig(
        vocab_size=1000,
        hidden_size=512,
        intermediate_size=1408,
        num_hidden_layers=6,
        num_attention_heads=8,
        num_key_value_heads=2,
        max_position_embeddings=max(LENGTHS),
        sliding_window=1024,
    )
    made: Any = MistralModel(config)
    return made, config


def own_process(*arguments: str) -> Any:
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def processor_seconds(process: int) -> float:
    """What a running process has spent, all threads together (Linux)."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def story(folder: Path, tokens: int) -> Path:
    """A file with a text of about so many tokens of SmolLM2: a sentence again and again."""
    file = folder / f"{tokens}.txt"
    file.write_text(STORY * (tokens // TOKENS_OF_STORY), "utf-8")
    return file


if __name__ == "__main__":
    raise SystemExit(main())
