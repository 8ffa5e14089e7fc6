"""Distributed: the processes of one run, and what they say to each other.

``torchrun`` starts the processes, on one machine or on many, and tells each its rank. Each takes
its rows of every batch; gradients are averaged after each backward pass (DDP), or weights,
gradients and Adam's state are split over the processes (FSDP2, ``sharded``). Rank 0 writes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

import torch
import torch.distributed as dist
from torch import nn

from regard.errors import ConfigError, RegardError

T = TypeVar("T")


class MainProcessError(RegardError):
    """An error of rank 0, which says it to the user; here it only ends the process."""


@dataclass(frozen=True)
class World:
    """This process among all; alone by default."""

    rank: int = 0
    size: int = 1
    device: torch.device = field(default_factory=lambda: torch.device("cpu"))

    @property
    def main(self) -> bool:
        """Whether this process writes files and talks to the user."""
        return self.rank == 0

    def highest(self, *values: float) -> list[float]:
        """The highest of each value over all processes, so that all decide alike."""
        return self._reduced(values, dist.ReduceOp.MAX) if self.size > 1 else list(values)

    def total(self, value: float) -> float:
        """The sum of a value over all processes."""
        return self._reduced((value,), dist.ReduceOp.SUM)[0] if self.size > 1 else value

    def broadcast(self, value: Any) -> Any:
        """What rank 0 has for ``value``."""
        if self.size == 1:
            return value
        box = [value]
        dist.broadcast_object_list(box, src=0, device=self.device)
        return box[0]

    def collected(self, value: Any) -> list[Any]:
        """What each process has for ``value``, by rank."""
        if self.size == 1:
            return [value]
        everyone: list[Any] = [None] * self.size
        dist.all_gather_object(everyone, value)
        return everyone

    def from_main(self, act: Callable[[], T]) -> T:
        """What ``act`` gives on rank 0, where alone it is called; its error is everybody's."""
        result: T | None = None
        problem: RegardError | None = None
        if self.main:
            try:
                result = act()
            except RegardError as error:
                problem = error
        result, text = self.broadcast((result, str(problem or "")))
        if text:
            raise problem or MainProcessError(text)
        return result

    def _reduced(self, values: tuple[float, ...], operation: Any) -> list[float]:
        kind = torch.float64 if self.device.type == "cpu" else torch.float32
        tensor = torch.tensor(values, dtype=kind, device=self.device)
        dist.all_reduce(tensor, operation)
        result: list[float] = tensor.tolist()
        return result

    def share(self, rows: list[int]) -> list[int]:
        """This process's rows of a batch: every size-th."""
        return rows[self.rank :: self.size]

    def wrap(self, model: nn.Module, sharded: bool) -> nn.Module:
        """``model`` with gradients kept together over the processes."""
        if sharded:
            return _sharded(model, self)
        if self.size == 1:
            return model
        gpu = [self.device.index] if self.device.type == "cuda" else None
        return nn.parallel.DistributedDataParallel(model, device_ids=gpu)


@contextmanager
def joined(device: str = "auto") -> Iterator[World]:
    """The world that ``torchrun`` put this process in; alone if it did not."""
    rank, size = int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1))
    gpu = torch.cuda.is_available()
    if device == "cuda" and not gpu:
        raise ConfigError("train.device is cuda, but PyTorch sees no GPU here; use cpu or auto")
    if device == "cpu" or not gpu:
        here = torch.device("cpu")
    else:
        here = torch.device("cuda", int(os.environ.get("LOCAL_RANK", 0)))
        torch.cuda.set_device(here)
    if "WORLD_SIZE" not in os.environ:
        yield World(device=here)
        return
    ours = not dist.is_initialized()
    if ours:
        dist.init_process_group("nccl" if here.type == "cuda" else "gloo")
    try:
        yield World(rank, size, here)
    finally:
        if ours:
            dist.destroy_process_group()


def gradients_kept(model: nn.Module, last: bool) -> AbstractContextManager[Any]:
    """While gradients are added up, only the ``last`` backward pass exchanges them."""
    if isinstance(model, nn.parallel.DistributedDataParallel) and not last:
        return model.no_sync()
    shards: Any = getattr(model, "set_requires_gradient_sync", None)
    if shards:
        shards(last)
    return nullcontext()


def _sharded(model: nn.Module, world: World) -> nn.Module:
    """Each layer of a stack is one shard group, what is left is another (ZeRO stage 3)."""
    if "WORLD_SIZE" not in os.environ:
        raise ConfigError(
            "train.sharded splits the model over processes: start them with "
            "torchrun --nproc-per-node 2 -m regard train …"
        )
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    mesh = init_device_mesh(world.device.type, (world.size,))
    for module in list(model.modules()):
        if isinstance(module, nn.ModuleList):
            for layer in module:
                fully_shard(layer, mesh=mesh)
    fully_shard(model, mesh=mesh)
    return model
