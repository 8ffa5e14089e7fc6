"""An episode as pieces: at each step what is still to come, the state and the action."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import RegardError
from regard.pieces.backdrop import Backdrop
from regard.pieces.pieces import Pieces

Numbers = NDArray[np.float64]
KINDS = ("return", "state", "action")
"""The pieces of a step, in their order."""


@dataclass(frozen=True)
class Episode:
    """What was recorded of one episode, step by step."""

    name: str
    first: int
    """The number of its first step, 0 or 1, as the file counts."""
    states: Numbers
    """(steps, numbers)"""
    actions: list[str]
    rewards: Numbers

    def __len__(self) -> int:
        return len(self.actions)

    def to_go(self) -> Numbers:
        """The return to go R_t = r_t + r_{t+1} + … of each step."""
        return np.cumsum(self.rewards[::-1])[::-1]

    def row(self, step: str) -> int:
        """The row of a step that the user names by its number."""
        last = self.first + len(self) - 1
        if not step.strip().isdecimal() or not self.first <= int(step) <= last:
            raise RegardError(
                f"episode {self.name!r} has the steps {self.first} to {last}; got {step!r:.40}"
            )
        return int(step) - self.first


def episode_pieces(episode: Episode, columns: Sequence[str], start: int, stop: int) -> Pieces:
    """The rows from ``start`` up to ``stop``: three pieces each, but of the last no action, which
    is what comes next. What is drawn are the states, a step three columns wide, a piece in each;
    a place is counted from ``start``."""
    to_go = episode.to_go()
    labels, places = [], []
    for row in range(start, stop):
        step = episode.first + row
        state = ", ".join(
            f"{name} {value:.3g}" for name, value in zip(columns, episode.states[row], strict=True)
        )
        said = (f"{to_go[row]:g} to go", state, episode.actions[row])
        labels += [f"{step} {kind}: {each}" for kind, each in zip(KINDS, said, strict=True)]
        first = len(KINDS) * (row - start)
        places += [(first + i, first + i + 1) for i in range(len(KINDS))]
    drawn = episode.states[start:stop].T.repeat(len(KINDS), 1)
    behind = Backdrop("curve", drawn.astype(np.float32))
    return Pieces.of_thing((), labels[:-1], places[:-1], behind)
