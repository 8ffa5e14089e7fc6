"""State: where a run is, besides its weights: counts, what was best, the random generators."""

from __future__ import annotations

import base64
import random
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from torch import Tensor

from regard.train.config import TrainConfig


@dataclass
class RunState:
    """Where a run is."""

    step: int = 0
    """Updates made."""
    epoch: int = 0
    """Passes over the data completed."""
    position: int = 0
    """Updates made in this pass."""
    seconds: float = 0.0
    """Time spent, over all sessions."""
    loss: float = 0.0
    """Sum of the training losses since the last line of the log."""
    tokens: int = 0
    """Tokens trained on since then."""
    validated: int = 0
    """The step of the last validation."""
    validation_seconds: float = 0.0
    """How long it took."""
    best: float | None = None
    """The best validation figure so far."""
    best_step: int = 0
    """Its step."""
    best_loss: float | None = None
    """The validation loss there, which decides between equal figures."""
    waited: int = 0
    """Validations since then."""
    scores: dict[str, float] = field(default_factory=dict)
    """Of the checkpoints that wait to be averaged: step to figure."""
    average: float | None = None
    """The figure of the average that the model file is; None if it is the best single one."""
    ended: int = -1
    """The step at which the run last came to its end, its average tried."""
    first: float | None = None
    """The training loss of the first update, which knows nothing yet."""

    @property
    def figure(self) -> float | None:
        """The validation figure of the model file."""
        return self.best if self.average is None else self.average


class Ranking:
    """Which validated weights are the best, and which are averaged.

    What it decides is kept in :class:`RunState`, so that a checkpoint holds it.
    """

    def __init__(self, config: TrainConfig, higher: bool) -> None:
        self.most, self.of = config.average, config.average_of
        self.higher = higher and config.monitor == "score"

    def better(self, one: float, other: float) -> bool:
        """Whether figure ``one`` beats ``other``."""
        return one > other if self.higher else one < other

    def remember(self, state: RunState, figure: float, loss: float) -> bool:
        """Note the validation figure of this step; whether it is the best so far.

        BLEU is 0 for all sentences under four words, however good: then the lower loss is better.
        """
        better = state.best is None or self.better(figure, state.best)
        if figure == state.best and state.best_loss is not None:
            better = loss < state.best_loss
        state.validated, state.waited = state.step, 0 if better else state.waited + 1
        if better:
            state.best, state.best_step, state.best_loss = figure, state.step, loss
        state.scores[str(state.step)] = figure
        if len(state.scores) > self.most:
            del state.scores[self._dispensable(state.scores)]
        return better

    def keeps(self, state: RunState, figure: float, loss: float) -> bool:
        """Whether an average with this figure is kept; of equal figures the lower loss decides."""
        if state.figure is None or state.best_loss is None or figure != state.figure:
            return state.figure is None or self.better(figure, state.figure)
        return loss <= state.best_loss

    def _dispensable(self, scores: dict[str, float]) -> str:
        """The step that will not be averaged: the oldest, or the worst (of such, the oldest)."""
        oldest = sorted(scores, key=int)
        if self.of == "last":
            return oldest[0]
        return min(oldest, key=lambda step: scores[step] if self.higher else -scores[step])


def seed_all(seed: int) -> None:
    """Set every random generator."""
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


def random_state() -> dict[str, Any]:
    """The state of every random generator of this process, as JSON."""
    name, keys, position, has, cached = np.random.get_state(legacy=True)
    version, internal, gauss = random.getstate()
    states = {"torch": torch.get_rng_state()}
    if torch.cuda.is_available():
        states["cuda"] = torch.cuda.get_rng_state()
    return {
        "python": [version, list(internal), gauss],
        "numpy": [str(name), np.asarray(keys).tolist(), position, has, cached],
        **{k: base64.b64encode(v.numpy().tobytes()).decode() for k, v in states.items()},
    }


def restore_random(saved: dict[str, Any]) -> None:
    """Set every random generator as it was."""
    version, internal, gauss = saved["python"]
    random.setstate((version, tuple(internal), gauss))
    np.random.set_state(tuple(saved["numpy"]))
    torch.set_rng_state(_bytes(saved["torch"]))
    if "cuda" in saved and torch.cuda.is_available():
        torch.cuda.set_rng_state(_bytes(saved["cuda"]))


def check_random(saved: Any) -> None:
    """Raise ValueError if :func:`restore_random` could not restore this; nothing is changed."""
    try:
        version, internal, gauss = saved["python"]
        random.Random().setstate((version, tuple(internal), gauss))
        np.random.RandomState().set_state(tuple(saved["numpy"]))
        torch.Generator().set_state(_bytes(saved["torch"]))
    except (LookupError, TypeError, ValueError, RuntimeError, OverflowError) as error:
        raise ValueError(f"its random state cannot be restored: {error}") from error


def _bytes(text: str) -> Tensor:
    return torch.frombuffer(bytearray(base64.b64decode(text)), dtype=torch.uint8)
