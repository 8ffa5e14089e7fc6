"""Actor: the next action, from what was seen and done before it and the return that is asked for.

Shapes, of B windows of n steps::

    returns (B, n) still to come, states (B, n, numbers), steps (B, n) of the episode, from 0
    actions (B, n), or (B, n − 1) if the last one is not known yet
    logits (B, n, actions): logits[:, t] scores the action of step t
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from numpy.typing import NDArray
from torch import Tensor, nn

from regard.models.config import whole
from regard.models.design import DESIGNS, DesignConfig, shape
from regard.models.labeller import NO_LABEL
from regard.models.sequence import SequenceModel
from regard.record import note, recording

ACTORS = ("alone", *DESIGNS)
"""The last state alone; every design that reads."""
DROPOUT = 0.1


@dataclass(frozen=True)
class ActorConfig(DesignConfig):
    """The shape of an actor."""

    actions: tuple[str, ...] = ()
    """The names of the actions."""
    states: int = 0
    """Numbers of a state."""
    context: int = 0
    """Steps that are read at once."""
    steps: int = 0
    """Of the longest episode of training: each step up to it has a vector of its own."""

    what = "an actor"
    designs = ACTORS
    always = ("dropout",)

    def __post_init__(self) -> None:
        object.__setattr__(self, "actions", tuple(self.actions))  # JSON has lists
        super().__post_init__()

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        for name in ("states", "context", "steps"):
            yield from whole(name, getattr(self, name), 1)
        if len(self.actions) < 2 or len(set(self.actions)) < len(self.actions):
            yield f"actions must be at least two different ones, got {list(self.actions)}"

    def to_dict(self) -> dict[str, Any]:
        return super().to_dict() | {"actions": list(self.actions)}


def sized_actor(model: str, size: str, **settings: Any) -> ActorConfig:
    """The config of a design in a named ``size``; ``settings`` say what it reads, and replace
    single numbers."""
    return ActorConfig(
        model=model, **(shape(model, size, ACTORS) | {"dropout": DROPOUT} | settings)
    )


class Actor(SequenceModel):
    """p(a_t | R_1 s_1 a_1 … R_t s_t) = softmax(W_o h_t + b), a Decision Transformer (Chen et al.
    2021) if the design is the Transformer.

        return to go     W_R R_t / R_max + p_t          three pieces a step, in this order;
        state            W_s (s_t − mean) / spread + p_t    p_t: a learned vector of step t
        action           E a_t + p_t

    h_t is what the design makes of the state's piece, which sees what stands before it and itself.
    "alone" sees the last state and nothing else: h_t = relu(W_s (s_t − mean) / spread).
    """

    mean: Tensor
    """(numbers,) of a state: what is taken from them,"""
    spread: Tensor
    """and what they are divided by."""
    largest: Tensor
    """The largest return of training."""

    def __init__(self, config: ActorConfig) -> None:
        super().__init__(config, 0, forwards=True)
        self.config = config
        self.states = nn.Linear(config.states, config.width)
        if self.body is not None:
            self.returns = nn.Linear(1, config.width)
            self.actions = nn.Embedding(len(config.actions), config.width)
            self.places = nn.Parameter(torch.randn(config.steps, config.width) * 0.02)
            self.norm = nn.LayerNorm(config.width)
        self.register_buffer("mean", torch.zeros(config.states))
        self.register_buffer("spread", torch.ones(config.states))
        self.register_buffer("largest", torch.ones(()))
        self.output = nn.Linear(config.features, len(config.actions))

    def forward(self, returns: Tensor, states: Tensor, actions: Tensor, steps: Tensor) -> Tensor:
        """The scores of every action at each step."""
        seen = self.states((states - self.mean) / self.spread)
        if self.body is None:
            read = torch.relu(seen)
        else:
            done = F.pad(self.actions(actions), (0, 0, 0, states.shape[1] - actions.shape[1]))
            hoped = self.returns((returns / self.largest).unsqueeze(-1))
            # A step behind the longest known one is taken for it.
            where = self.places[steps.clamp(max=self.config.steps - 1)].unsqueeze(2)
            pieces = (torch.stack([hoped, seen, done], 2) + where).flatten(1, 2)
            if actions.shape[1] < states.shape[1]:
                pieces = pieces[:, :-1]
            read = self.body(self.dropout(self.norm(pieces))).features[:, 1::3]
        logits: Tensor = self.output(self.dropout(read))
        if recording():
            note(
                "probabilities",
                logits.softmax(-1),
                axes=("step", "action"),
                formula="softmax(W_o h_t + b)",
                meaning="How likely each action is at each step.",
            )
        return logits

    def set_scale(
        self, mean: NDArray[np.float64], spread: NDArray[np.float64], largest: float
    ) -> None:
        """Numbers come in any unit: theirs in training."""
        self.mean.copy_(torch.from_numpy(mean))
        self.spread.copy_(torch.from_numpy(spread))
        self.largest.fill_(largest)

    def loss(
        self,
        returns: Tensor,
        states: Tensor,
        actions: Tensor,
        steps: Tensor,
        right: Tensor,
        smoothing: float = 0.0,
    ) -> Tensor:
        """The sum of the cross-entropies of the ``right`` actions (B, n); NO_LABEL has none."""
        logits = self(returns, states, actions, steps)
        return F.cross_entropy(
            logits.flatten(0, 1),
            right.flatten(),
            reduction="sum",
            label_smoothing=smoothing,
            ignore_index=NO_LABEL,
        )
