"""The task of acting: recorded episodes, an Actor, and the share of actions that it gets right."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from regard.models.actor import Actor, ActorConfig, sized_actor
from regard.models.guesses import Imitations
from regard.models.labeller import NO_LABEL
from regard.pieces.episode import Episode
from regard.store.folder import BASELINES, RunFolder
from regard.text import number_of, quoted, visible
from regard.train.config import TrainConfig
from regard.train.data.batches import plan
from regard.train.data.episodes import DividedEpisodes, divided_episodes
from regard.train.data.thingconfig import EpisodesConfig
from regard.train.settings import Tree
from regard.train.tasks.job import Files, Job, Settings
from regard.train.tasks.label import labels_line

PIECES = 3
"""Of a step: the return to go, the state, the action."""
AT_ONCE = 20_000
"""Pieces that are read together while testing."""


class StepWindow(NamedTuple):
    """Some steps of an episode, one behind the other."""

    episode: int
    start: int
    stop: int


class StepTensors(NamedTuple):
    """Windows of one batch, as an :class:`Actor` takes them."""

    returns: Tensor
    states: Tensor
    actions: Tensor
    steps: Tensor
    right: Tensor
    """(B, n), NO_LABEL behind the end."""


class EpisodeRows:
    """Episodes in the numbers that an actor reads."""

    def __init__(self, episodes: Sequence[Episode], actions: Sequence[str]) -> None:
        self.episodes = episodes
        number = {action: i for i, action in enumerate(actions)}
        self.actions = [np.array([number[a] for a in each.actions]) for each in episodes]
        self.to_go = [each.to_go() for each in episodes]

    def windows(self, context: int, chance: np.random.Generator | None = None) -> list[StepWindow]:
        """Every step once, in windows of ``context`` steps; by chance the first is shorter."""
        found = []
        for row, episode in enumerate(self.episodes):
            first = context if chance is None else int(chance.integers(1, context + 1))
            edges = [0, *range(first, len(episode), context), len(episode)]
            found += [StepWindow(row, *pair) for pair in pairwise(edges)]
        return found

    def each(self, context: int) -> list[StepWindow]:
        """For each step the window that ends with it."""
        return [
            StepWindow(row, max(0, stop - context), stop)
            for row, episode in enumerate(self.episodes)
            for stop in range(1, len(episode) + 1)
        ]

    def batch(self, windows: Sequence[StepWindow], device: torch.device) -> StepTensors:
        """The windows, filled up behind to the longest."""
        n = max(stop - start for _, start, stop in windows)
        width = self.episodes[0].states.shape[1]
        shape = (len(windows), n)
        returns, states = np.zeros(shape, np.float32), np.zeros((*shape, width), np.float32)
        actions, steps = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        right = np.full(shape, NO_LABEL)
        for i, (episode, start, stop) in enumerate(windows):
            rows, count = slice(start, stop), stop - start
            returns[i, :count] = self.to_go[episode][rows]
            states[i, :count] = self.episodes[episode].states[rows]
            actions[i, :count] = right[i, :count] = self.actions[episode][rows]
            steps[i, :count] = np.arange(start, stop)
        arrays = (returns, states, actions, steps, right)
        return StepTensors(*(torch.from_numpy(array).to(device) for array in arrays))


def lengths(windows: Sequence[StepWindow]) -> list[tuple[int]]:
    """How many pieces each has."""
    return [(PIECES * (stop - start),) for _, start, stop in windows]


class NextAction:
    """An actor in training, as the loop's :class:`~regard.train.tasks.task.Task`."""

    score = "accuracy"
    higher = True

    def __init__(self, model: Actor, data: DividedEpisodes, config: TrainConfig) -> None:
        self.model, self.config = model, config
        actions, self.context = model.config.actions, model.config.context
        self.train, self.valid = (EpisodeRows(each, actions) for each in (data.train, data.valid))
        self.windows = self.train.windows(self.context)
        self.held = self.valid.windows(self.context)

    def batches(self, epoch: int) -> list[list[int]]:
        """In each pass the episodes are cut elsewhere, as (seed, epoch) decide."""
        chance = np.random.Generator(np.random.PCG64([self.config.seed, epoch, 1]))
        self.windows = self.train.windows(self.context, chance)
        sizes = lengths(self.windows)
        return plan(sizes, self.config.batch_tokens, seed=self.config.seed, epoch=epoch)

    def targets(self, rows: list[int]) -> int:
        return sum(self.windows[row].stop - self.windows[row].start for row in rows)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        batch = self.train.batch([self.windows[row] for row in rows], self.model.device)
        return self.model.loss(*batch, smoothing=smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self.model.loss(*self._held(rows))

    def _held(self, rows: list[int]) -> StepTensors:
        return self.valid.batch([self.held[row] for row in rows], self.model.device)

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        chunks = plan(lengths(self.held), max(AT_ONCE, PIECES * self.context))
        count = sum(map(len, self.valid.episodes))
        figures = {"loss": sum(float(forward(rows)) for rows in chunks) / count}
        if decode:
            right = 0
            for rows in chunks:
                batch = self._held(rows)
                right += int((self.model(*batch[:4]).argmax(-1) == batch.right).sum())
            figures["score"] = 100 * right / count
        return figures


@torch.no_grad()
def said_actions(model: Actor, part: EpisodeRows) -> NDArray[np.int64]:
    """The likeliest action at each step of all episodes, from as many steps as a model reads."""
    windows = part.each(model.config.context)
    found = np.zeros(len(windows), np.int64)
    for rows in plan(lengths(windows), max(AT_ONCE, PIECES * model.config.context)):
        some = [windows[row] for row in rows]
        logits = model(*part.batch(some, model.device)[:4]).cpu().numpy()
        last = np.array([stop - start - 1 for _, start, stop in some])
        found[rows] = logits[np.arange(len(some)), last].argmax(-1)
    return found


def imitations(data: DividedEpisodes) -> Imitations:
    """What the training part teaches those who know the last state alone."""
    part = EpisodeRows(data.train, data.actions)
    states = [episode.states.astype(np.float32) for episode in part.episodes]
    pairs = list(zip(states, part.actions, strict=True))
    return Imitations.of(pairs, data.returns(), len(data.actions))


class Act(Job[EpisodesConfig, DividedEpisodes, DividedEpisodes, ActorConfig, Actor]):
    """``regard train act``."""

    task = "act"
    reads = "episodes"
    data_config = EpisodesConfig
    model_config = ActorConfig
    usual_model = "transformer"
    usual_epochs = 40
    undecided: ClassVar[Mapping[str, Any]] = {
        "actions": ("0", "1"),
        "states": 1,
        "context": 20,
        "steps": 20,
    }
    paths: ClassVar[Iterable[str]] = ("episodes",)
    learns: ClassVar[Iterable[str]] = (BASELINES,)

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        return {"learning_rate": 1e-3, "warmup": 100, "batch_tokens": 2000, "smoothing": 0.0} | {
            "schedule": "cosine"
        }

    def sized(self, model: str, size: str, **settings: Any) -> ActorConfig:
        return sized_actor(model, size, **settings)

    def build(self, config: ActorConfig) -> Actor:
        return Actor(config)

    def read(self, data: EpisodesConfig) -> DividedEpisodes:
        return divided_episodes(data)

    def fingerprint(self, read: DividedEpisodes) -> str:
        return read.whole.digest()

    def learn(self, read: DividedEpisodes, data: EpisodesConfig) -> Files:
        return {BASELINES: imitations(read).to_text()}

    def known(self, folder: RunFolder) -> Files:
        return {BASELINES: folder.read_baselines()}

    def encode(
        self, read: DividedEpisodes, learned: Files, data: EpisodesConfig
    ) -> DividedEpisodes:
        return read

    def decided(self, corpus: DividedEpisodes) -> Tree:
        return {
            "actions": tuple(corpus.actions),
            "states": len(corpus.whole.columns),
            "context": corpus.context,
            "steps": corpus.longest,
        }

    def prepare(
        self,
        model: Actor,
        corpus: DividedEpisodes,
        data: EpisodesConfig,
        note: Callable[[str], None],
    ) -> None:
        model.set_scale(*corpus.scale())

    def make_task(
        self, model: Actor, corpus: DividedEpisodes, settings: Settings[EpisodesConfig]
    ) -> NextAction:
        return NextAction(model, corpus, settings.train)

    def summary(self, corpus: DividedEpisodes, data: EpisodesConfig) -> dict[str, Any]:
        parts = {part: sum(map(len, getattr(corpus, part))) for part in ("train", "valid", "test")}
        return parts | {"actions": dict(_counts(corpus).most_common()), "short": corpus.whole.short}

    def notes(self, corpus: DividedEpisodes, data: EpisodesConfig) -> Iterable[str]:
        whole, returns = corpus.whole, corpus.returns()
        are = "is" if data.context == 1 else "are"
        train, valid, test = (len(getattr(corpus, part)) for part in ("train", "valid", "test"))
        yield (
            f"{number_of(train, 'episode')} to train on, {valid:,} to validate, {test:,} to test; "
            f"a state has {number_of(len(whole.columns), 'number')}: "
            f"{', '.join(map(visible, whole.columns[:8]))}"
        )
        yield labels_line(_counts(corpus), "steps", "actions")
        yield (
            f"their returns go from {returns.min():g} to {returns.max():g}, on average "
            f"{returns.mean():.1f}; {number_of(data.context, 'step')} {are} read at once"
        )
        if whole.short:
            yield (
                f"left out: {number_of(len(whole.short), 'episode')} of one step, such as "
                f"{quoted(whole.short[0])}"
            )

    def conflicts(self, settings: Settings[EpisodesConfig]) -> list[str]:
        context, room = settings.data.context, settings.train.batch_tokens
        if PIECES * context <= room:
            return []
        return [
            f"train.batch_tokens ({room}) must hold data.context ({context}) steps of {PIECES} "
            "pieces each"
        ]


def _counts(corpus: DividedEpisodes) -> Counter[str]:
    return Counter(action for episode in corpus.train for action in episode.actions)
