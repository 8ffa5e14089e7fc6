"""The folder of an untrained actor, and the episodes that it could be of."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

from regard.models.actor import Actor, sized_actor
from regard.store.folder import BASELINES, RunFolder
from regard.store.weights import write_weights
from regard.train.data.episodes import divided_episodes
from regard.train.data.thingconfig import EpisodesConfig
from regard.train.tasks.act import imitations


def save_episodes(file: Path, width: int = 2) -> None:
    """Forty episodes of two to six steps, of two actions."""
    chance = np.random.default_rng(1)
    lengths = chance.integers(2, 7, 40)
    count = int(lengths.sum())
    np.savez(
        file,
        episode=np.repeat(np.arange(40), lengths),
        step=np.concatenate([np.arange(n) for n in lengths]),
        state=chance.normal(size=(count, width)),
        action=chance.integers(0, 2, count),
        reward=np.ones(count),
    )


def save_actor(folder: Path, design: str = "transformer", width: int = 2) -> Path:
    """The run folder."""
    file = folder / "episodes.npz"
    save_episodes(file, width)
    divided = divided_episodes(EpisodesConfig(str(file), context=3))
    torch.manual_seed(4)
    config = sized_actor(
        design, "tiny", actions=("0", "1"), states=width, context=3, steps=divided.longest
    )
    run = RunFolder(folder / "run")
    run.write_config(
        {
            "task": "act",
            "data": {"episodes": str(file), "context": 3},
            "model": config.to_dict(),
            "train": {},
            "made": {"episodes": divided.whole.digest()},
        }
    )
    (run.path / BASELINES).write_text(imitations(divided).to_text())
    actor = Actor(config)
    actor.set_scale(*divided.scale())
    write_weights(run.model, actor.state_dict())
    return run.path
