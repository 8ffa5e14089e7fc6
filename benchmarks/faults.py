"""Faults of training: killed at hundreds of points, resumed, compared bit by bit.

    python benchmarks/faults.py [--each 8] [--random 60] [--twice 30] [--real 6] [--minutes 40]

Two very small runs are trained on generated text: a translator (Transformer with dropout) and a
language model (LSTMN over a stream, which carries its state from batch to batch). Each is first
trained without interruption, then again and again, and killed by SIGKILL

    at named places         in the middle of writing weights, a state, a log line; before and after
                            a file is renamed, synced or deleted; before and after an update of the
                            weights; in a validation: at so many of its occurrences in the run
    at random times         decided by --seed, as is everything else
    twice                   at a named place, and at another one while it is resumed
    as a real process       at random times; the others are forked from this one, to save time

and resumed, or started again if the run had not begun. What must be equal then: weights and
optimizer of the last checkpoint, the model file, and every figure of the log, each step once. What
must not be there: half-written files. What must not happen: a traceback.

Prints a table and exits with 1 if anything was lost. Not covered: power cuts (what was written is
taken to stay, so the folder may be in memory), network file systems, GPUs, several processes
(tests/train has those), and kills of forked runs while the curves are drawn.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sacrebleu  # noqa: F401  (what a run imports late is imported here, before it is forked)
import safetensors.torch
import torch
import torch._dynamo  # the optimizer does; it takes longer than all the rest of a run

import regard.models.translators.transformer
import regard.store.weights
import regard.train.run.checkpoint
from regard.cli import main
from regard.cli.shared.training import job_of
from regard.train.run.log import Log, read_log
from regard.train.run.loop import Loop

MEMORY = Path("/dev/shm")
STEPS = 10
SETTINGS = {
    "data.valid_share": 0.2,
    "data.test_share": 0.1,
    "train.steps": STEPS,
    "train.validate_every": 4,
    "train.save_every": 3,
    "train.log_every": 1,
    "train.average": 2,
    "train.patience": 0,
    "train.threads": 1,
    "train.warmup": 3,
}
JOBS: dict[str, dict[str, Any]] = {
    "translate": {
        "model.model": "transformer",
        "model.width": 8,
        "model.layers": 1,
        "model.heads": 2,
        "model.feedforward": 8,
        "train.batch_tokens": 200,
    },
    "lm": {
        "model.model": "lstmn",
        "model.size": "tiny",
        "model.width": 8,
        "model.hidden": 7,
        "model.window": 6,
        "data.level": "space",
        "data.continuous": True,
        "data.chunk": 5,
        "train.batch_tokens": 20,
    },
}


def write_texts(folder: Path) -> dict[str, Path]:
    """A table of numbers in two languages, and lines of a small language."""
    german = ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
    english = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
    rows = [
        " ".join(german[int(d)] for d in str(n)) + "\t" + " ".join(english[int(d)] for d in str(n))
        for n in range(1000, 1120)
    ]
    lines = [f"{a} {b} {c} ." for a in "abcd" for b in ("see", "like") for c in ("tea", "dogs")]
    files = {"translate": folder / "numbers.tsv", "lm": folder / "lines.txt"}
    files["translate"].write_text("\n".join(rows) + "\n", encoding="utf-8")
    files["lm"].write_text("\n".join(lines * 3) + "\n", encoding="utf-8")
    return files


def command(task: str, text: Path, output: Path) -> list[str]:
    """What follows ``regard`` to begin a run."""
    option = {"translate": "--pairs", "lm": "--text"}[task]
    sets = [f"{k}={str(v).lower()}" for k, v in (SETTINGS | JOBS[task]).items()]
    flags = [part for text_ in sets for part in ("--set", text_)]
    return ["train", task, option, str(text), "-o", str(output), *flags]


def preload() -> None:
    """Import what a run would import; nothing may be computed before a fork."""
    for task in JOBS:
        job_of(task)


class Killer:
    """Counts how often each named place is passed, and kills this process at one of them."""

    def __init__(self, place: str = "", number: int = 0) -> None:
        self.place, self.number = place, number
        self.seen: Counter[str] = Counter()

    def passes(self, place: str, before_dying: Callable[[], Any] = lambda: None) -> None:
        """This process passes a place; if it is the one, do the last thing and die."""
        self.seen[place] += 1
        if (place, self.seen[place]) == (self.place, self.number):
            before_dying()
            os.kill(os.getpid(), signal.SIGKILL)

    def around(self, owner: Any, name: str, place: str) -> None:
        """Two places: before and after a function."""
        act = getattr(owner, name)

        def wrapped(*args: Any, **options: Any) -> Any:
            self.passes(f"before {place}")
            result = act(*args, **options)
            self.passes(f"after {place}")
            return result

        setattr(owner, name, wrapped)

    def within(self, owner: Any, name: str, place: str, half: Callable[..., Any]) -> None:
        """A place in a function, when half of its work is done."""
        act = getattr(owner, name)

        def wrapped(*args: Any, **options: Any) -> Any:
            self.passes(f"in {place}", lambda: half(act, *args, **options))
            return act(*args, **options)

        setattr(owner, name, wrapped)

    def install(self) -> None:
        """Watch the places in this process."""
        self.around(os, "replace", "renaming")
        self.around(os, "fsync", "syncing")
        self.around(Path, "unlink", "deleting a file")
        self.around(torch.optim.AdamW, "step", "an update")
        self.within(Path, "write_text", "writing a text", half_a_text)
        self.within(shutil, "rmtree", "deleting a folder", half_a_folder)
        self.within(Log, "write", "writing a log line", half_a_line)
        self.within(Loop, "evaluate", "a validation", lambda act, loop: loop.module.eval())
        for module in (regard.train.run.checkpoint, regard.store.weights):
            self.within(module, "save_file", "writing weights", half_of_the_weights)


def half_a_text(act: Callable[..., Any], path: Path, text: str, **options: Any) -> None:
    act(path, text[: len(text) // 2], **options)


def half_a_folder(act: Callable[..., Any], path: Path, **options: Any) -> None:
    if Path(path).is_dir():
        for file in sorted(Path(path).iterdir())[:1]:
            file.unlink()


def half_a_line(act: Callable[..., Any], log: Log, event: str, **values: Any) -> None:
    if log.path is not None:
        with log.path.open("a") as file:
            file.write(json.dumps({"event": event, **values})[:20])


def half_of_the_weights(act: Callable[..., Any], tensors: Any, path: Path) -> None:
    data = safetensors.torch.save(tensors)
    Path(path).write_bytes(data[: len(data) // 2])


@dataclass(frozen=True)
class Ended:
    """How a forked command ended."""

    killed: bool
    code: int
    output: str
    seen: dict[str, int] = field(default_factory=dict)


def forked(args: list[str], killer: Killer | None, scratch: Path, after: float = 0.0) -> Ended:
    """Run ``regard …`` in a copy of this process; ``after`` so many seconds it is killed."""
    output, counts = scratch / "output", scratch / "counts"
    counts.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        in_the_child(args, killer, output, counts)
    if after:
        time.sleep(after)
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    seen = json.loads(counts.read_text()) if counts.exists() else {}
    killed = os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL
    code = -1 if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return Ended(killed, code, output.read_text(errors="replace"), seen)


def in_the_child(args: list[str], killer: Killer | None, output: Path, counts: Path) -> None:
    """The command, its output in a file; never returns."""
    code = 70
    try:
        to = os.open(output, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(to, 1)
        os.dup2(to, 2)
        write = Path.write_text
        if killer:
            killer.install()
        try:
            main(args)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        sys.stdout.flush()
        if killer and not killer.place:
            write(counts, json.dumps(killer.seen))
    finally:
        os._exit(code)


def result(folder: Path) -> dict[str, Any]:
    """Everything that must be equal."""
    last = folder / f"checkpoints/step-{STEPS:08d}"
    events = [
        {k: v for k, v in event.items() if k not in ("seconds", "speed")}
        for event in read_log(folder / "log.jsonl")
    ]
    return {
        "weights": (last / "model.safetensors").read_bytes(),
        "optimizer": (last / "optimizer.safetensors").read_bytes(),
        "model file": (folder / "model.safetensors").read_bytes(),
        "log": events,
    }


def left_over(folder: Path) -> list[str]:
    """Files that nobody will use."""
    return [p.name for p in folder.rglob(".*") if p.name != ".lock"]


@dataclass
class Row:
    """What became of the kills at one kind of place."""

    kills: int = 0
    """That came before the end of the run: at a random time some do not."""
    again: int = 0
    """Of these, so early that the run had to be started again, not resumed."""
    faults: list[str] = field(default_factory=list)


class Trial:
    """The uninterrupted run of a task, and runs that are killed against it."""

    def __init__(self, task: str, text: Path, scratch: Path) -> None:
        self.task, self.text, self.scratch = task, text, scratch
        began = time.monotonic()
        ended = forked(command(task, text, scratch / "whole"), Killer(), scratch)
        assert ended.code == 0, ended.output
        self.seconds = time.monotonic() - began
        self.wanted = result(scratch / "whole")
        self.places = ended.seen

    def points(self, each: int, chance: random.Random) -> Iterator[tuple[str, int]]:
        """Of every named place, ``each`` of the times that the run passes it, or all."""
        for place, count in self.places.items():
            for number in sorted(chance.sample(range(1, count + 1), min(each, count))):
                yield place, number

    def killed(self, row: Row, *killers: Killer, after: float = 0.0, real: bool = False) -> None:
        """Train, be killed at each point in turn, go on; put what was lost into the row."""
        folder = self.scratch / "killed"
        shutil.rmtree(folder, ignore_errors=True)
        for killer in killers or (None,):
            if real:
                row.kills += self.process(folder, after)
                continue
            ended = forked(self.next(folder), killer, self.scratch, after)
            row.kills += ended.killed
            if "Traceback" in ended.output:
                row.faults.append(f"a traceback before the kill: {ended.output[-300:]}")
        row.again += not (folder / "config.json").exists()
        ended = forked(self.next(folder), None, self.scratch)
        if ended.code != 0 or "Traceback" in ended.output:
            row.faults.append(f"not resumed: {ended.output[-300:]}")
            return
        found = result(folder)
        row.faults += [f"other {k}" for k in self.wanted if found[k] != self.wanted[k]]
        row.faults += [f"left over: {name}" for name in left_over(folder)]

    def next(self, folder: Path) -> list[str]:
        """The command that a user would type now."""
        if (folder / "config.json").exists():
            return ["train", self.task, "-o", str(folder), "--resume"]
        return command(self.task, self.text, folder)

    def process(self, folder: Path, after: float) -> bool:
        """The same in a process of its own; whether the kill came before its end."""
        started = subprocess.Popen(
            [sys.executable, "-m", "regard", *self.next(folder)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        assert started.stdout is not None
        started.stdout.readline()  # it has imported everything, and begins
        time.sleep(after)
        started.kill()
        started.communicate()
        return started.returncode == -signal.SIGKILL


def try_all(trial: Trial, given: argparse.Namespace, until: float) -> dict[str, Row]:
    """All points of one task, as far as the time allows."""
    chance, rows = random.Random(given.seed), dict[str, Row]()
    points = list(trial.points(given.each, chance))
    plans: list[tuple[str, Callable[[Row], None]]] = []

    def plan(name: str, *killers: Killer, after: float = 0.0, real: bool = False) -> None:
        plans.append((name, lambda row: trial.killed(row, *killers, after=after, real=real)))

    for place, number in points:
        plan(place, Killer(place, number))
    for _ in range(given.random // 2):
        plan("at a random time", after=chance.uniform(0.01, 1.0) * trial.seconds)
    for _ in range(given.twice // 2):
        plan("twice", *(Killer(*point) for point in chance.sample(points, 2)))
    for _ in range(given.real // 2):
        plan("a real process", after=chance.uniform(0.0, 1.0) * trial.seconds, real=True)
    chance.shuffle(plans)  # if the time is short, something of everything
    for name, act in plans:
        if time.monotonic() > until:
            print(f"{trial.task}: out of time, {len(plans)} were planned")
            break
        act(rows.setdefault(name, Row()))
    return rows


def report(task: str, rows: dict[str, Row]) -> tuple[int, int]:
    """Print the table of a task; its kills and faults."""
    print(f"\n{task:<32} kills  started again  lost")
    for name, row in sorted(rows.items()):
        print(f"  {name:<30} {row.kills:>5} {row.again:>14} {len(row.faults):>5}")
        for fault in row.faults[:3]:
            print(f"      {fault}")
    return sum(r.kills for r in rows.values()), sum(len(r.faults) for r in rows.values())


def run() -> int:
    """All of it; the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--each", type=int, default=8, help="kills at each named place")
    parser.add_argument("--random", type=int, default=60, help="kills at random times")
    parser.add_argument("--twice", type=int, default=30, help="runs that are killed twice")
    parser.add_argument("--real", type=int, default=6, help="kills of real processes")
    parser.add_argument("--minutes", type=float, default=40.0, help="at most")
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    torch.set_num_threads(1)
    os.environ["TOKENIZERS_PARALLELISM"] = "false"  # its threads would not survive a fork
    sys.modules["matplotlib.figure"] = None  # type: ignore[assignment]  # to draw takes longest
    preload()
    began = time.monotonic()
    total = [0, 0]
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as name:
        texts = write_texts(Path(name))
        for number, task in enumerate(JOBS, 1):
            scratch = Path(name) / task
            scratch.mkdir()
            until = began + 60 * given.minutes * number / len(JOBS)
            rows = try_all(Trial(task, texts[task], scratch), given, until)
            total = [a + b for a, b in zip(total, report(task, rows), strict=True)]
    print(
        f"\n{total[0]} kills, seed {given.seed}, {time.monotonic() - began:.0f} s: "
        + (f"{total[1]} faults" if total[1] else "nothing was lost, every bit is the same")
    )
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(run())
