"""Checkpoint: everything a run needs to go on as if it had never stopped.

    checkpoints/step-00000500/model.safetensors        the weights
                              optimizer.safetensors    Adam's state of each weight
                              carried.safetensors      what one batch leaves to the next, if any
                              state.json               position, best, random states, hashes

A checkpoint is a folder written under another name and renamed when it is complete, so there is
never half of one under its own name. The last two are complete; older ones that are the best or
wait to be averaged keep their weights alone.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import safetensors
import torch
from safetensors.torch import load_file, save_file
from torch import Tensor

from regard.errors import FileError
from regard.store.weights import read_weights
from regard.train.run.state import RunState

FORMAT = 1
WEIGHTS, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
CARRIED = "carried.safetensors"


@dataclass(frozen=True)
class Checkpoint:
    """What was saved."""

    state: RunState
    weights: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    """Adam's two averages and count of each weight."""
    random: list[dict[str, Any]]
    """One per process."""
    carried: dict[str, Tensor] = field(default_factory=dict)
    """What the last batch left to the next."""


class Checkpoints:
    """The checkpoints of one run."""

    def __init__(self, folder: Path, note: Callable[[str], None] = lambda text: None) -> None:
        self.folder = folder
        self.note = note

    def path(self, step: int) -> Path:
        """Where the checkpoint of a step is."""
        return self.folder / f"step-{step:08d}"

    def save(self, checkpoint: Checkpoint) -> None:
        """Write it whole, or leave everything as it was and raise :class:`FileError`."""
        target = self.path(checkpoint.state.step)
        temporary = self.folder / f".writing-{target.name}"
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(parents=True)
            hashes = {
                WEIGHTS: _write(temporary / WEIGHTS, checkpoint.weights),
                OPTIMIZER: _write(temporary / OPTIMIZER, checkpoint.optimizer),
            }
            if checkpoint.carried:
                hashes[CARRIED] = _write(temporary / CARRIED, checkpoint.carried)
            content = {
                "regard": FORMAT,
                "state": asdict(checkpoint.state),
                "random": checkpoint.random,
                "files": hashes,
            }
            (temporary / STATE).write_text(json.dumps(content), encoding="utf-8")
            _sync(temporary / STATE)
            if target.exists():
                shutil.rmtree(target)
            os.replace(temporary, target)
            _sync(self.folder)
        except (OSError, safetensors.SafetensorError) as error:
            shutil.rmtree(temporary, ignore_errors=True)
            reason = getattr(error, "strerror", None) or str(error)
            raise FileError(f"cannot write the checkpoint {str(target)!r}: {reason}") from error
        self._tidy(checkpoint.state)

    def steps(self) -> list[int]:
        """The steps with a complete checkpoint, oldest first."""
        return sorted(int(p.parent.name[5:]) for p in self.folder.glob(f"step-*/{STATE}"))

    def latest(self) -> Checkpoint | None:
        """The newest checkpoint that is whole; damaged ones are said and put out of the way."""
        steps = self.steps()
        for step in reversed(steps):
            try:
                return self.load(step)
            except FileError as error:
                aside = self.folder / f"damaged-{self.path(step).name}"
                shutil.rmtree(aside, ignore_errors=True)
                os.replace(self.path(step), aside)
                self.note(f"{error}; it is now {aside.name}, going back to the one before")
        if steps:
            raise FileError(
                f"no checkpoint in {str(self.folder)!r} is whole: nothing to resume from; "
                "start again in another folder"
            )
        return None

    def load(self, step: int) -> Checkpoint:
        """The checkpoint of a step, checked against its hashes."""
        path = self.path(step)
        try:
            content = json.loads((path / STATE).read_text(encoding="utf-8"))
            for name, expected in content["files"].items():
                if _hash(path / name) != expected:
                    raise FileError(
                        f"the checkpoint {path.name} is damaged: {name} was cut or changed"
                    )
            state = RunState(**content["state"])
            weights, optimizer = load_file(path / WEIGHTS), load_file(path / OPTIMIZER)
            carried = load_file(path / CARRIED) if CARRIED in content["files"] else {}
        except (OSError, ValueError, KeyError, TypeError, safetensors.SafetensorError) as error:
            raise FileError(f"the checkpoint {path.name} is damaged: {error}") from error
        return Checkpoint(state, weights, optimizer, content["random"], carried)

    def weights(self, step: int) -> dict[str, Tensor]:
        """The weights of a step."""
        return read_weights(self.path(step) / WEIGHTS)

    def average(self, steps: Iterable[int]) -> dict[str, Tensor]:
        """The mean of the weights of several steps."""
        several = [self.weights(step) for step in steps]
        return {
            name: torch.stack([w[name].double() for w in several]).mean(0).to(first.dtype)
            if first.is_floating_point()
            else first
            for name, first in several[0].items()
        }

    def _tidy(self, state: RunState) -> None:
        """Keep the last two complete, and weights alone where a kept checkpoint names them."""
        complete = self.steps()[-2:]
        wanted = {state.best_step, *map(int, state.scores)}
        for step in complete[:-1]:
            older = json.loads((self.path(step) / STATE).read_text(encoding="utf-8"))["state"]
            wanted |= {older["best_step"], *map(int, older["scores"])}
        for path in self.folder.glob("step-*"):
            step = int(path.name[5:])
            if step in complete:
                continue
            if step in wanted:
                for name in (STATE, OPTIMIZER, CARRIED):
                    (path / name).unlink(missing_ok=True)
            else:
                shutil.rmtree(path, ignore_errors=True)


def _write(path: Path, tensors: dict[str, Tensor]) -> str:
    save_file(tensors, path)
    _sync(path)
    return _hash(path)


def _hash(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync(path: Path) -> None:
    """Have the system put the file or folder on the disk before going on."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
