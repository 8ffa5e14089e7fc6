"""An episode read by an actor: what it would do at a step, and which pieces it looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch

from regard.models.actor import Actor
from regard.models.notedattention import ATTENTION, attention_of, of_head_if_any
from regard.pieces.episode import KINDS, Episode, episode_pieces
from regard.pieces.pieces import Pieces
from regard.record import record
from regard.trace import Array, Trace


@dataclass(frozen=True)
class ActReading:
    """What an actor says at one step of an episode."""

    model: str
    """The design."""
    episode: Episode
    row: int
    """The step whose action is said, counted from 0."""
    pieces: Pieces
    """What was read: of each step up to this one the return to go, the state and the action."""
    actions: list[str]
    probabilities: list[float]
    attention: Array
    """(layers, heads, pieces): of the state of this step, from which the action comes, its weight
    of every piece; no layers for a design without attention."""
    trace: Trace

    @property
    def step(self) -> int:
        """As the file counts."""
        return self.episode.first + self.row

    @property
    def steps(self) -> list[int]:
        """The step of each piece, as the file counts."""
        first = self.step - (len(self.pieces) - 1) // len(KINDS)
        return [first + i // len(KINDS) for i in range(len(self.pieces))]

    @property
    def kinds(self) -> list[str]:
        """What each piece is."""
        return [KINDS[i % len(KINDS)] for i in range(len(self.pieces))]

    @property
    def said(self) -> str:
        """The likeliest action."""
        return self.actions[int(np.argmax(self.probabilities))]

    def weights(self, layer: int | None = None, head: int | None = None) -> Array | None:
        """(pieces,) of a layer, the last if not given, and a head, the mean if not given."""
        return of_head_if_any(self.model, self.attention, layer, head)


@torch.no_grad()
def read_episode(
    model: Actor, episode: Episode, columns: Sequence[str], row: int, *, traced: bool = False
) -> ActReading:
    """Read an episode up to the state at ``row``, as much of it as the model reads at once; the
    return that is asked for is the one that was got."""
    config = model.config
    start, stop = max(0, row + 1 - config.context), row + 1
    pieces = episode_pieces(episode, columns, start, stop)
    number = {action: i for i, action in enumerate(config.actions)}
    given = (
        torch.from_numpy(episode.to_go()[start:stop].astype(np.float32)),
        torch.from_numpy(episode.states[start:stop].astype(np.float32)),
        torch.tensor([number[a] for a in episode.actions[start:row]], dtype=torch.long),
        torch.arange(start, stop),
    )
    with record(config.model, pieces.labels, only=None if traced else ATTENTION) as trace:
        logits = model.eval()(*(each.unsqueeze(0).to(model.device) for each in given))[0, -1]
    return ActReading(
        config.model,
        episode,
        row,
        pieces,
        list(config.actions),
        logits.double().softmax(-1).tolist(),
        attention_of(trace, pieces.words)[:, :, -1],
        trace,
    )
