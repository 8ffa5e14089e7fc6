"""Several processes: what one of them holds, and what is left when one of them is killed.

    python benchmarks/workers.py memory [--workers 4] [--sharded]
    python benchmarks/workers.py killed [--then 3] [--sharded]

``memory`` trains the base Transformer of the paper (44 million parameters) for three updates, in
one process or with DDP or sharded (FSDP2), and prints for process 0, after the last update, the
bytes of all its tensors and its resident memory, less what it was before the model was made, and
the highest of it.

``killed`` trains a small translator with two processes, kills one of them by SIGKILL in the middle,
and goes on with another number of processes; then compares losses and weights with a run of one
process that nobody killed. No dropout, which would draw other numbers.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch

from regard.train.run.log import read_log
from regard.train.run.progress import Progress, Status
from regard.train.run.start import train
from regard.train.settings import Tree
from regard.train.tasks.translate import Translate

GERMAN = ["null", "eins", "zwei", "drei", "vier", "fünf", "sechs", "sieben", "acht", "neun"]
ENGLISH = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
BASE: Tree = {
    "model": {"model": "transformer", "size": "base", "dropout": 0.0},
    "train": {
        "steps": 3,
        "save_every": 0,
        "batch_tokens": 200,
    },
}
SMALL: Tree = {
    "model": {"model": "transformer", "size": "tiny", "dropout": 0.0},
    # A key's bias has no gradient but rounding errors, which Adam's usual epsilon would blow up.
    "train": {
        "steps": 30,
        "save_every": 5,
        "batch_tokens": 300,
        "epsilon": 1e-3,
        "log_every": 1,
    },
}
KILLED = 17
"""The update in whose neighbourhood a process is killed."""


def settings(pairs: Path, own: Tree, **train: Any) -> Tree:
    """A run's settings; validated by loss, as what is sharded must be."""
    pairs.write_text("".join(f"{_said(n, GERMAN)}\t{_said(n, ENGLISH)}\n" for n in range(100, 900)))
    data = {"pairs": str(pairs), "vocabulary": 60, "max_length": 20}
    data |= {"valid_share": 0.05, "test_share": 0.05}
    usual = {"monitor": "loss", "threads": 1, "patience": 0, "validate_at_most": 1, "average": 1}
    usual["validate_every"] = 1000  # at the end alone
    return {"data": data, "model": own["model"], "train": usual | own["train"] | train}


def _said(number: int, digits: list[str]) -> str:
    return " ".join(digits[int(digit)] for digit in str(number))


@dataclass(frozen=True)
class Held:
    """What a process holds, in bytes."""

    tensors: int
    resident: int
    highest: int


class Watch(Progress):
    """Prints what this process holds after the last update."""

    def __init__(self) -> None:
        self.before = memory("VmRSS")

    def update(self, status: Status, line: bool) -> None:
        if status.done < 1:
            return
        gc.collect()
        highest = memory("VmHWM") - self.before
        held = Held(tensor_bytes(), memory("VmRSS") - self.before, highest)
        print(json.dumps(asdict(held)), flush=True)


def memory(what: str) -> int:
    """A line of the kernel's account of this process."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in lines if line.startswith(what))


def tensor_bytes() -> int:
    """The memory of all tensors that are alive; of a sharded one, that of its shard."""
    found = {}
    for thing in gc.get_objects():
        if not isinstance(thing, torch.Tensor):
            continue
        for tensor in (thing, thing.grad if thing.is_leaf else None):
            local = getattr(tensor, "_local_tensor", tensor)
            if local is not None and local.device.type == "cpu":
                storage = local.untyped_storage()
                found[storage.data_ptr()] = storage.nbytes()
    return sum(found.values())


def start(run: Tree, folder: Path, workers: int, *more: str) -> subprocess.Popen[str]:
    """Start this script again as ``workers`` processes that train."""
    own = [__file__, "worker", json.dumps(run), str(folder), *more]
    torchrun = ["-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={workers}"]
    command = [sys.executable, *(torchrun if workers > 1 else []), *own]
    return subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def finished(process: subprocess.Popen[str]) -> str:
    """What the processes printed, once they are done."""
    output, errors = process.communicate()
    if process.returncode:
        raise SystemExit(f"a run failed:\n{errors}")
    return output


def work(run: str, folder: str, resume: bool) -> None:
    """What each process does."""
    train(Translate(), {} if resume else json.loads(run), folder, resume=resume, progress=Watch())


def print_memory(workers: int, sharded: bool) -> None:
    with tempfile.TemporaryDirectory() as room:
        run = settings(Path(room, "pairs.tsv"), BASE, sharded=sharded)
        process = start(run, Path(room, "run"), workers)
        assert process.stdout is not None
        held = Held(**json.loads(process.stdout.readline()))
        os.killpg(process.pid, signal.SIGKILL)  # what is left is to write it all down
        process.communicate()
    cells = [f"{name} {figure / 1e6:,.0f} MB" for name, figure in asdict(held).items()]
    print(f"{workers} processes{', sharded' * sharded}: {', '.join(cells)}")


def kill_one(process: subprocess.Popen[str], folder: Path) -> int:
    """Kill the process of rank 1 once the run is under way; the last update in the log."""
    while step_of(folder) < KILLED:
        if process.poll() is not None:
            raise SystemExit(f"the run ended too soon:\n{process.communicate()[1]}")
        time.sleep(0.1)
    os.kill(child(process.pid, "RANK=1"), signal.SIGKILL)
    process.communicate()
    return step_of(folder)


def child(parent: int, variable: str) -> int:
    """The child of a process that has ``variable`` in its environment."""
    for pid in Path(f"/proc/{parent}/task/{parent}/children").read_text().split():
        if variable.encode() in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
            return int(pid)
    raise SystemExit(f"no child of {parent} has {variable}")


def step_of(folder: Path) -> int:
    """The last update in the log of a run."""
    log = folder / "log.jsonl"
    steps = [event.get("step", 0) for event in read_log(log)] if log.exists() else []
    return max(steps, default=0)


def print_killed(then: int, sharded: bool) -> None:
    with tempfile.TemporaryDirectory() as room:
        pairs, alone, folder = (Path(room, name) for name in ("pairs.tsv", "alone", "killed"))
        finished(start(settings(pairs, SMALL), alone, 1))
        run = settings(pairs, SMALL, sharded=sharded)
        at = kill_one(start(run, folder, 2), folder)
        finished(start(run, folder, then, "--resume"))
        loss, weight = differences(alone, folder)
    print(
        f"2 processes{', sharded' * sharded}, one killed at update {at}, gone on with {then}: "
        f"greatest relative difference of a loss {loss:.1e}, of a matrix {weight:.1e}"
    )


def differences(one: Path, other: Path) -> tuple[float, float]:
    """The greatest relative difference of a training loss, and of a weight matrix (by norm)."""
    from regard.store.weights import read_weights

    curves = [[e["loss"] for e in read_log(f / "log.jsonl") if e["event"] == "train"]
              for f in (one, other)]  # fmt: skip
    losses = [abs(b - a) / a for a, b in zip(*curves, strict=True)]
    last = f"checkpoints/step-{SMALL['train']['steps']:08d}/model.safetensors"
    first, second = read_weights(one / last), read_weights(other / last)
    apart = [float((second[n] - w).norm() / w.norm()) for n, w in first.items() if w.dim() > 1]
    return max(losses), max(apart)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("memory", "killed", "worker"))
    parser.add_argument("run", nargs="*", help="worker: its settings and its folder")
    parser.add_argument("--workers", type=int, default=1, help="memory: how many (1)")
    parser.add_argument("--then", type=int, default=3, help="killed: how many go on (3)")
    parser.add_argument("--sharded", action="store_true", help="FSDP2 instead of DDP")
    parser.add_argument("--resume", action="store_true", help="worker: go on")
    given = parser.parse_args()
    if given.what == "worker":
        run, folder = given.run
        work(run, folder, given.resume)
    elif given.what == "memory":
        print_memory(given.workers, given.sharded)
    else:
        print_killed(given.then, given.sharded)


if __name__ == "__main__":
    main()
