"""The importance of every head over a corpus, on the engine of ``heads``: lines as a stream, sums
of whole numbers, a state to go on from, any number of processes."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch

from regard.errors import DataError, RegardError
from regard.inside.ablate.engine import MEMORY, engine
from regard.inside.ablate.loading import TrialOf
from regard.inside.ablate.trial import AblationTrial
from regard.inside.ablate.variant import Variant
from regard.inside.heads.corpus import UNIT, CorpusState, Whole, Workers, read_through, whole
from regard.pieces.heads import HeadPlace
from regard.pieces.importance import HeadEffect, Importance


@dataclass
class EffectSums:
    """What lines add up to: whole numbers only."""

    texts: int = 0
    tokens: int = 0
    empty: int = 0
    long: int = 0
    """Lines that the model cannot read: too long, or without what it predicts."""
    effects: dict[int, Whole] = field(default_factory=dict)
    """By layer, (change |change| change², heads)."""

    def __iadd__(self, other: EffectSums) -> EffectSums:
        for name in ("texts", "tokens", "empty", "long"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for layer, values in other.effects.items():
            mine = self.effects.get(layer)
            self.effects[layer] = values if mine is None else mine + values
        return self


class ImportanceState(CorpusState):
    """Where a run over a corpus stands."""

    command = "ablate"
    kind = EffectSums
    arrays = ("effects",)

    def importance(self) -> Importance:
        """Of every head, by what was read so far."""
        sums, found = self.sums, dict[HeadPlace, HeadEffect]()
        for layer, effects in sums.effects.items():
            means = effects.astype(np.float64) / UNIT / max(1, sums.texts)
            for head, (change, size, square) in enumerate(means.T):
                spread = float(np.sqrt(max(0.0, square - change**2)))
                found[layer, head] = HeadEffect(float(change), float(size), spread)
        said = self.setting
        return Importance(
            said["model"], said["metric"], said["part"], sums.texts, sums.tokens, found
        )


class EffectReader:
    """Removes every head in turn from every line, and adds up what that does."""

    def __init__(
        self, read: TrialOf, part: str, metric: str, by: str, memory: int = MEMORY
    ) -> None:
        self.trial, self.part, self.metric = read, part, metric
        self.by, self.memory = by, memory

    def read(self, lines: list[str]) -> EffectSums:
        """What these lines add up to."""
        sums = EffectSums()
        for line in lines:
            if not line.strip():
                sums.empty += 1
                continue
            try:
                trial = self.trial(line, None)
            except DataError:
                sums.long += 1
                continue
            sums += self._of(trial)
        return sums

    def _of(self, trial: AblationTrial) -> EffectSums:
        with engine(trial, self.memory) as running:
            heads = [head for head in running.heads if head.part == self.part]
            measured = trial.measured(running.base, self.metric)
            changes = torch.zeros(len(heads), dtype=torch.float64)
            variants = [Variant((head,), how={"by": self.by}) for head in heads]
            for places, output in running.run(variants):
                changes[places] = measured.values(output).cpu() - measured.base
        effects = {}
        for layer in sorted({head.layer for head in heads}):
            some = changes[[i for i, head in enumerate(heads) if head.layer == layer]]
            effects[layer] = whole(torch.stack((some, some.abs(), some.square())))
        return EffectSums(1, len(trial.pieces), effects=effects)


def rank_by_effect(
    name: str,
    size: int,
    reader: EffectReader,
    path: str,
    world: Workers,
    *,
    state_file: str | None = None,
    progress: Callable[[Any, float], None] | None = None,
    stop: threading.Event | None = None,
) -> ImportanceState:
    """Read the corpus to its end, or until ``stop``; the state is the same on every process."""
    setting = {
        "model": name,
        "size": size,
        "part": reader.part,
        "metric": reader.metric,
        "by": reader.by,
    }
    state: ImportanceState = world.from_main(lambda: ImportanceState.begin(state_file, setting))
    read_through(path, world, state, reader.read, state_file, progress, stop)
    return state


def check_corpus(trial: AblationTrial, part: str | None, metric: str | None) -> tuple[str, str]:
    """The attention and the metric that a run over a corpus is about."""
    part, metric = part or trial.parts[0], metric or trial.metrics[0]
    if not trial.has_heads:
        raise RegardError(f"{trial.title} is recurrent and has no heads that could be ranked")
    if part not in trial.parts:
        raise RegardError(
            f"{trial.title} has the attention {', '.join(trial.parts)}, got --part {part}"
        )
    if metric not in trial.metrics:
        raise RegardError(
            f"of {trial.title} {' or '.join(trial.metrics)} can be measured, got {metric!r}"
        )
    return part, metric
