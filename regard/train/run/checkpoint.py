"""Checkpoint: everything a run needs to go on as if it had never stopped.

    checkpoints/step-00000500/model.safetensors        the weights
                              optimizer.safetensors    its state of each weight
                              carried.safetensors      what one batch leaves to the next, if any
                              state.json               position, best, random states, hashes

A checkpoint is a folder written under another name and renamed when it is complete, so there is
never half of one under its own name. The last two are complete; older ones that are the best or
wait to be averaged keep their weights alone, and the hash of these in model.sha256.
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
from regard.files import write_text
from regard.store.weights import read_weights
from regard.train.run.state import RunState, check_random
from regard.train.settings import make

FORMAT = 1
WEIGHTS, OPTIMIZER, STATE = "model.safetensors", "optimizer.safetensors", "state.json"
CARRIED = "carried.safetensors"
WRITING, DAMAGED = ".writing-", "damaged-"
"""In front of the names of checkpoints that are not whole yet, and of those found not to be."""
HASH = "model.sha256"
"""Beside weights that are alone: what state.json said of them."""


@dataclass(frozen=True)
class Checkpoint:
    """What was saved."""

    state: RunState
    weights: dict[str, Tensor]
    optimizer: dict[str, Tensor]
    """What the optimizer remembers of each weight: Adam two averages and a count."""
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
        temporary = self.folder / f"{WRITING}{target.name}"
        try:
            shutil.rmtree(temporary, ignore_errors=True)
            temporary.mkdir(parents=True)
            hashes = {
                WEIGHTS: _write(temporary / WEIGHTS, checkpoint.weights),
                OPTIMIZER: _write(temporary / OPTIMIZER, checkpoint.optimizer),
            }
            if checkpoint.carried:
                hashes[CARRIED] = _write(temporary / CARRIED, checkpoint.carried)
            content = _content(checkpoint.state, checkpoint.random, hashes)
            (temporary / STATE).write_text(content, encoding="utf-8")
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

    def amend(self, state: RunState, chance: list[dict[str, Any]]) -> None:
        """Another state for the checkpoint of its step, whose weights have not changed since."""
        path = self.path(state.step) / STATE
        content = json.loads(path.read_text(encoding="utf-8"))
        write_text(path, _content(state, chance, content["files"]))
        _sync(path)
        self._tidy(state)

    def empty(self) -> bool:
        """Whether there has never been a checkpoint."""
        return not self.steps() and not list(self.folder.glob(f"{DAMAGED}*"))

    def steps(self) -> list[int]:
        """The steps with a complete checkpoint, oldest first."""
        return sorted(int(p.parent.name[5:]) for p in self.folder.glob(f"step-*/{STATE}"))

    def latest(self) -> Checkpoint | None:
        """The newest checkpoint that is whole; damaged ones are said and put out of the way."""
        for step in reversed(self.steps()):
            try:
                return self.load(step)
            except FileError as error:
                aside = self.folder / f"{DAMAGED}{self.path(step).name}"
                shutil.rmtree(aside, ignore_errors=True)
                os.replace(self.path(step), aside)
                self.note(f"{error}; it is now {aside.name}, going back to the one before")
        if self.empty():
            return None
        raise FileError(
            f"no checkpoint in {str(self.folder)!r} is whole: nothing to resume from; "
            "start again in another folder"
        )

    def load(self, step: int) -> Checkpoint:
        """The checkpoint of a step, checked against its hashes."""
        path = self.path(step)
        try:
            content = json.loads((path / STATE).read_text(encoding="utf-8"))
            if content.pop("check", None) not in (None, _digest(content)):
                raise ValueError(f"{STATE} was changed")
            for name, expected in content["files"].items():
                if _hash(path / name) != expected:
                    raise ValueError(f"{name} was cut or changed")
            state, problems = make(RunState, content["state"], "state")
            if state is None:
                raise ValueError("; ".join(problems))
            for each in content["random"]:
                check_random(each)
            weights, optimizer = load_file(path / WEIGHTS), load_file(path / OPTIMIZER)
            carried = load_file(path / CARRIED) if CARRIED in content["files"] else {}
        except (
            *(OSError, ValueError, LookupError, TypeError, AttributeError),
            safetensors.SafetensorError,
        ) as error:
            raise FileError(f"the checkpoint {path.name} is damaged: {error}") from error
        return Checkpoint(state, weights, optimizer, content["random"], carried)

    def weights(self, step: int) -> dict[str, Tensor]:
        """The weights of a step, checked against their hash if it is known."""
        path = self.path(step)
        expected = _read(path / HASH)
        if expected is None and (state := _read(path / STATE)) is not None:
            expected = json.loads(state)["files"][WEIGHTS]
        weights = read_weights(path / WEIGHTS)
        if expected not in (None, _hash(path / WEIGHTS)):
            raise FileError(f"the checkpoint {path.name} is damaged: {WEIGHTS} was changed")
        return weights

    def average(self, steps: Iterable[int]) -> tuple[list[int], dict[str, Tensor]]:
        """Of these steps those whose weights are whole, and the mean of the weights."""
        several: dict[int, dict[str, Tensor]] = {}
        for step in steps:
            try:
                several[step] = self.weights(step)
            except FileError as error:
                self.note(f"{error}; it is left out of the average")
        return list(several), _mean(list(several.values()))

    def _tidy(self, state: RunState) -> None:
        """Keep the last two complete, and weights alone where a kept checkpoint names them."""
        for path in self.folder.glob(f"{WRITING}*"):
            shutil.rmtree(path, ignore_errors=True)
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
                self._strip(path)
            else:
                shutil.rmtree(path, ignore_errors=True)

    def _strip(self, path: Path) -> None:
        """Leave the weights alone, and their hash."""
        if (state := _read(path / STATE)) is not None:
            write_text(path / HASH, json.loads(state)["files"][WEIGHTS])
        for name in (STATE, OPTIMIZER, CARRIED):
            (path / name).unlink(missing_ok=True)


def _content(state: RunState, chance: list[dict[str, Any]], hashes: dict[str, str]) -> str:
    """What state.json holds; ``check`` is a fingerprint of all the rest."""
    content = {"regard": FORMAT, "state": asdict(state), "random": chance, "files": hashes}
    return json.dumps(content | {"check": _digest(content)})


def _digest(content: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def _mean(several: list[dict[str, Tensor]]) -> dict[str, Tensor]:
    """The mean of each tensor; of what is no floating point number, the first."""
    return {
        name: torch.stack([weights[name].double() for weights in several]).mean(0).to(first.dtype)
        if first.is_floating_point()
        else first
        for name, first in (several[0].items() if several else ())
    }


def _read(path: Path) -> str | None:
    return path.read_text(encoding="utf-8") if path.exists() else None


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
