"""Play: actors in an environment of gymnasium, beside others, for the returns that are asked for.

All episodes are played in step with each other: at step t everyone whose episode goes on has seen t
states. What is drawn by chance follows from the seed and the episode alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from regard.errors import DataError, MissingExtraError, RegardError, first_line
from regard.models.actor import Actor
from regard.models.guesses import LinearGuesses
from regard.pieces.episode import Numbers
from regard.train.tasks.ranking import Mean

MOST_STEPS = 10_000
"""Of an episode: one that does not end by itself is ended."""
EPISODES = 20
"""Played for each figure, unless told otherwise."""


class Environment(Protocol):
    """What gymnasium's environments have, and is used of it."""

    def reset(self, *, seed: int) -> tuple[Any, dict[str, Any]]:
        """The first state."""

    def step(self, action: int) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        """The next state, the reward, whether the episode ended, whether it was cut off."""


class Played(NamedTuple):
    """What was seen, done and got so far in episodes that go on: B of them, of t states each."""

    states: Numbers
    """(B, t, numbers)"""
    actions: NDArray[np.int64]
    """(B, t − 1), by their numbers among the model's actions,"""
    rewards: Numbers
    """and what each gave."""
    rows: list[int]
    """Which of all episodes these are."""


Player = Callable[[Played], NDArray[np.int64]]
"""The next action of each episode."""


def open_environment(name: str, actions: Sequence[str], states: int) -> Callable[[], Environment]:
    """What makes environments of this name; it must have these actions and states as wide."""
    try:
        import gymnasium
    except ImportError as error:
        raise MissingExtraError("acting in an environment", "gymnasium") from error
    try:
        first: Any = gymnasium.make(name)
    except Exception as error:  # of any kind: the name may call for any package
        raise DataError(f"gymnasium makes no environment {name!r}: {first_line(error)}") from error
    count, shape = getattr(first.action_space, "n", None), first.observation_space.shape
    begin = int(getattr(first.action_space, "start", 0))
    first.close()
    if count is None or not all(a.isdecimal() and 0 <= int(a) - begin < count for a in actions):
        has = f"{begin} to {begin + count - 1}" if count else "amounts"
        raise DataError(
            f"the actions of {name!r} are {has}, those of the model {', '.join(actions[:20])}"
        )
    if shape != (states,):
        raise DataError(f"a state of {name!r} has the shape {shape}, the model reads ({states},)")
    return lambda: gymnasium.make(name)


def play(
    make: Callable[[], Environment], names: Sequence[str], player: Player, seeds: Sequence[int]
) -> Numbers:
    """The return of an episode of each seed; ``names`` of the actions are the environment's
    numbers for them."""
    numbers, worlds = [int(name) for name in names], [make() for _ in seeds]
    first = [_state(w.reset(seed=seed)[0]) for w, seed in zip(worlds, seeds, strict=True)]
    none = np.zeros((len(seeds), 0))
    played = Played(np.stack(first)[:, None], none.astype(np.int64), none, list(range(len(seeds))))
    returns = np.zeros(len(seeds))
    for _ in range(MOST_STEPS):
        chosen = player(played)
        states, rewards, going = [], [], []
        for row, action in zip(played.rows, chosen.tolist(), strict=True):
            state, reward, ended, cut, _ = worlds[row].step(numbers[action])
            returns[row] += float(reward)
            states.append(_state(state))
            rewards.append(float(reward))
            going.append(not (ended or cut))
        if not any(going):
            break
        played = Played(
            np.concatenate([played.states, np.stack(states)[:, None]], 1)[going],
            np.concatenate([played.actions, chosen[:, None]], 1)[going],
            np.concatenate([played.rewards, np.array(rewards)[:, None]], 1)[going],
            [row for row, goes in zip(played.rows, going, strict=True) if goes],
        )
    return returns


def _state(given: Any) -> Numbers:
    state: Numbers = np.asarray(given, np.float64)
    if not np.isfinite(state).all():
        raise RegardError("the environment gave a state that is not finite")
    return state


def by_model(
    model: Actor, asked: Sequence[float], likeliest: Sequence[bool], seeds: Sequence[int]
) -> Player:
    """The model's own way: in each episode it is ``asked`` for a return, and its actions are the
    ``likeliest`` or drawn from their probabilities."""
    chances = [np.random.default_rng([seed, row]) for row, seed in enumerate(seeds)]
    hopes, context = np.array(asked), model.config.context

    @torch.no_grad()
    def player(played: Played) -> NDArray[np.int64]:
        got = np.cumsum(played.rewards, 1)
        first = np.zeros((len(got), 1))
        to_go = hopes[played.rows, None] - np.concatenate([first, got], 1)
        t, count = to_go.shape[1], min(context, to_go.shape[1])
        steps = np.broadcast_to(np.arange(t - count, t), (len(got), count))
        given = (
            to_go[:, -count:].astype(np.float32),
            played.states[:, -count:].astype(np.float32),
            played.actions[:, played.actions.shape[1] - count + 1 :],
            steps.copy(),
        )
        tensors = (torch.from_numpy(each.copy()).to(model.device) for each in given)
        shares = model(*tensors)[:, -1].double().softmax(-1).cpu().numpy()
        drawn = [
            int(share.argmax()) if likeliest[row] else _drawn(share, chances[row])
            for row, share in zip(played.rows, shares, strict=True)
        ]
        return np.array(drawn)

    return player


def _drawn(shares: Numbers, chance: np.random.Generator) -> int:
    below = np.cumsum(shares) <= chance.random() * shares.sum()
    return min(int(below.sum()), len(shares) - 1)


def by_state(guesses: LinearGuesses) -> Player:
    """What a linear map says of the last state."""
    return lambda played: guesses.say(played.states[:, -1].astype(np.float32))


def by_chance(actions: int, seeds: Sequence[int]) -> Player:
    """Any action."""
    chances = [np.random.default_rng([seed, row]) for row, seed in enumerate(seeds)]
    return lambda played: np.array([chances[row].integers(actions) for row in played.rows])


class Acted(NamedTuple):
    """What someone got in an environment."""

    name: str
    asked: float | None
    """The return that was asked for; None of those who cannot be asked."""
    drawn: Mean | None
    """The mean return if actions are drawn from their probabilities,"""
    likeliest: Mean | None
    """and if they are always the likeliest; None of those who have no such way."""

    def to_dict(self) -> dict[str, Any]:
        """Plain data."""
        ways = {"drawn": self.drawn, "likeliest": self.likeliest}
        return self._asdict() | {way: mean and mean._asdict() for way, mean in ways.items()}


def act_asked(
    make: Callable[[], Environment], model: Actor, asked: Sequence[float], seeds: Sequence[int]
) -> list[Acted]:
    """A row for each return that is asked for; all episodes are played together."""
    many = len(seeds)
    all_asked = [each for each in asked for _ in range(2 * many)]
    likeliest = ([False] * many + [True] * many) * len(asked)
    all_seeds = list(seeds) * 2 * len(asked)
    player = by_model(model, all_asked, likeliest, all_seeds)
    got = play(make, model.config.actions, player, all_seeds).reshape(len(asked), 2, many)
    return [
        Acted(model.config.model, each, *(Mean.of(part) for part in parts))
        for each, parts in zip(asked, got, strict=True)
    ]
