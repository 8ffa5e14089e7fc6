"""Scores of an actor: how often its next action is right, and what return it gets when it acts."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from regard.errors import DataError, RegardError
from regard.files import name_of
from regard.models.actor import Actor
from regard.models.guesses import Imitations
from regard.pieces.episode import Episode
from regard.store.folder import RunFolder, load_actor
from regard.train.data.episodes import (
    Episodes,
    check_actions,
    divided_episodes,
    read_episodes,
)
from regard.train.data.thingconfig import EpisodesConfig
from regard.train.tasks.act import EpisodeRows, said_actions
from regard.train.tasks.play import (
    EPISODES,
    Acted,
    Environment,
    Player,
    act_asked,
    by_chance,
    by_state,
    open_environment,
    play,
)
from regard.train.tasks.ranking import Mean

LINEAR = "last state, linear"
ASKED = 5
"""Returns that are asked for if none are given, from the least recorded to the most."""


def measure_actor(
    run: RunFolder,
    name: str,
    episodes: str | None = None,
    environment: str | None = None,
    returns: Sequence[float] | None = None,
    trials: int = EPISODES,
    seed: int = 1,
) -> dict[str, Any]:
    """How often the next action is right, beside what the last state alone says; and what return is
    got in an ``environment`` for the ``returns`` that are asked for."""
    model, guesses = load_actor(run.path)
    config = model.config
    make = open_environment(environment, config.actions, config.states) if environment else None
    part = EpisodeRows(_held_episodes(run, name, model, episodes), config.actions)
    right = np.concatenate(part.actions)
    states = np.concatenate([each.states for each in part.episodes]).astype(np.float32)
    said = {
        "commonest action": np.full(len(right), guesses.all.commonest),
        LINEAR: guesses.all.say(states),
        config.model: said_actions(model, part),
    }
    shares = {"by chance": 1 / len(config.actions)} | {
        way: float((each == right).mean()) for way, each in said.items()
    }
    found: dict[str, Any] = {
        "episodes": len(part.episodes),
        "steps": len(right),
        "recorded": Mean.of(np.array([e.rewards.sum() for e in part.episodes]))._asdict(),
        "accuracies": [{"name": way, "accuracy": share} for way, share in shares.items()],
    }
    if make is None:
        return found
    seeds = range(seed, seed + trials)
    return found | {
        "environment": environment,
        "played": trials,
        "seeds": [seeds[0], seeds[-1]],
        "acted": [each.to_dict() for each in _acted(make, model, guesses, returns, seeds)],
    }


def _acted(
    make: Callable[[], Environment],
    model: Actor,
    guesses: Imitations,
    returns: Sequence[float] | None,
    seeds: Sequence[int],
) -> list[Acted]:
    """Those who cannot be asked for a return, then the model for each of the ``returns``."""
    actions = model.config.actions

    def got(player: Player) -> Mean:
        return Mean.of(play(make, actions, player, seeds))

    others = [
        Acted("by chance", None, got(by_chance(len(actions), seeds)), None),
        Acted(LINEAR, None, None, got(by_state(guesses.all))),
        Acted(f"{LINEAR}, best tenth", None, None, got(by_state(guesses.best))),
    ]
    if model.config.model == "alone":  # it reads no return
        return [*others, act_asked(make, model, [0.0], seeds)[0]._replace(asked=None)]
    asked = np.linspace(guesses.least, guesses.most, ASKED).round(1).tolist()
    return [*others, *act_asked(make, model, returns or asked, seeds)]


def _held_episodes(run: RunFolder, name: str, model: Actor, episodes: str | None) -> list[Episode]:
    """All of a file that is given, or the part that the model's own training set aside."""
    if episodes is not None:
        return read_for(model, name, episodes).rows
    config = run.read_config()
    data = EpisodesConfig(**config["data"])
    if not os.path.exists(str(data.episodes)):
        raise RegardError(f"{name!r} was trained on {data.episodes!r}: give --episodes FILE")
    found = divided_episodes(data)
    if found.whole.digest() != config["made"]["episodes"]:
        raise RegardError(
            f"{data.episodes!r} has changed since {name!r} was trained on it: give --episodes FILE"
        )
    return found.test


def read_for(model: Actor, name: str, episodes: str) -> Episodes:
    """The episodes of a file, all of which the model called ``name`` can read."""
    found, config = read_episodes(episodes), model.config
    if len(found.columns) != config.states:
        raise DataError(
            f"a state of {name!r} has {config.states} numbers, one of {name_of(episodes)} "
            f"{len(found.columns)}: {', '.join(found.columns[:20])}"
        )
    check_actions(found.rows, config.actions, repr(name))
    return found
