"""Best: which validated weights are the best, which are averaged, and how long to wait."""

from __future__ import annotations

from regard.train.config import TrainConfig
from regard.train.run.checkpoint import RunState


class Best:
    """The rules; what they decide is kept in :class:`RunState`, so that a checkpoint holds it."""

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

    def _dispensable(self, scores: dict[str, float]) -> str:
        """The step that will not be averaged: the oldest, or the worst (of such, the oldest)."""
        oldest = sorted(scores, key=int)
        if self.of == "last":
            return oldest[0]
        return min(oldest, key=lambda step: scores[step] if self.higher else -scores[step])
