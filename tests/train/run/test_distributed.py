"""One process among all; several are tested as real processes, in test_processes.py."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard.errors import ConfigError, DataError
from regard.train.run.distributed import World, gradients_kept, joined


def refuse() -> None:
    raise DataError("no")


def test_alone_everything_is_its_own() -> None:
    world = World()
    assert world.main
    assert world.highest(1.0, 2.0) == [1.0, 2.0]
    assert world.total(3.0) == 3.0
    assert world.broadcast("a") == "a"
    assert world.collected("a") == ["a"]
    assert world.from_main(lambda: 7) == 7
    assert world.share([5, 6, 7]) == [5, 6, 7]
    with pytest.raises(DataError, match=r"^no$"):
        world.from_main(refuse)


def test_each_process_takes_its_rows() -> None:
    shares = [World(rank, 3).share([0, 1, 2, 3, 4]) for rank in range(3)]
    assert shares == [[0, 3], [1, 4], [2]]


def test_without_torchrun_nothing_is_joined(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("WORLD_SIZE", raising=False)
    with joined("cpu") as world:
        assert (world.rank, world.size, world.device) == (0, 1, torch.device("cpu"))
        model = nn.Linear(2, 2)
        assert world.wrap(model, sharded=False) is model
        with gradients_kept(model, last=False):
            pass
        with pytest.raises(ConfigError, match="start them with torchrun"):
            world.wrap(model, sharded=True)
