"""Episodes: what was seen, done and got, step by step, of an npz file or a table."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError, RegardError, nearest
from regard.files import name_of
from regard.pieces.episode import Episode, Numbers
from regard.train.data.labelled import label_order
from regard.train.data.npz import read_arrays
from regard.train.data.split import places
from regard.train.data.table import read_table
from regard.train.data.thingconfig import EpisodesConfig

NEEDED = ("episode", "step", "state", "action", "reward")
"""The arrays of an npz file; of a table the columns but ``state``, which are all others."""
LEAST = 2
"""Steps of an episode: before its only action there would be nothing but one state."""
MOST_ACTIONS = 256
"""More are a sign that actions are amounts, which this cannot choose among."""
Path = str | os.PathLike[str]


@dataclass(frozen=True)
class Episodes:
    """Those of one file."""

    columns: list[str]
    """What the numbers of a state are called."""
    rows: list[Episode]
    short: list[str]
    """The names of episodes of one step, which are left out."""

    def of(self, name: str) -> Episode:
        """The episode of this name."""
        for episode in self.rows:
            if episode.name == name:
                return episode
        if name in self.short:
            raise RegardError(f"episode {name!r} has one step: there is nothing to read in it")
        known = [episode.name for episode in self.rows]
        raise RegardError(
            f"there is no episode {name!r} among {len(known):,} (such as "
            f"{', '.join(known[:3])}){nearest(name, known)}"
        )

    def actions(self) -> list[str]:
        """Those that occur."""
        return sorted({a for episode in self.rows for a in episode.actions}, key=label_order)

    def digest(self) -> str:
        """A fingerprint of everything."""
        found = hashlib.sha256("\n".join(self.columns).encode())
        for episode in self.rows:
            found.update(f"{episode.name} {content_of(episode)}".encode())
        return found.hexdigest()


@dataclass(frozen=True)
class DividedEpisodes:
    """Episodes to train, to validate and to test on."""

    whole: Episodes
    train: list[Episode]
    valid: list[Episode]
    test: list[Episode]
    context: int
    """Steps that are read at once."""

    @property
    def actions(self) -> list[str]:
        """Those that training knows."""
        return replace(self.whole, rows=self.train).actions()

    @property
    def longest(self) -> int:
        """Steps of the longest episode to train on."""
        return max(map(len, self.train))

    def returns(self) -> Numbers:
        """Of the episodes to train on."""
        return np.array([episode.rewards.sum() for episode in self.train])

    def scale(self) -> tuple[Numbers, Numbers, float]:
        """The mean and the standard deviation of each number of a state, and the largest return to
        go, of the training part."""
        states = np.concatenate([episode.states for episode in self.train])
        spread = states.std(0)
        largest = max(float(np.abs(episode.to_go()).max()) for episode in self.train)
        return states.mean(0), np.where(spread > 0, spread, 1.0), largest or 1.0


def divided_episodes(data: EpisodesConfig) -> DividedEpisodes:
    """Read and divide; episodes in which the same happened are in one part."""
    assert data.episodes is not None, "EpisodesConfig checks this"
    found, where = read_episodes(data.episodes), name_of(data.episodes)
    names = [content_of(episode) for episode in found.rows]
    parts = places(names, data.valid_share, data.test_share, data.split_seed, "episodes")
    train, valid, test = (
        [episode for episode, place in zip(found.rows, parts, strict=True) if place == part]
        for part in ("train", "valid", "test")
    )
    made = DividedEpisodes(found, train, valid, test, data.context)
    if len(made.actions) < 2:
        raise DataError(
            f"the episodes of {where} to train on have one action, {made.actions[0]!r}: there is "
            "nothing to choose"
        )
    check_actions(valid + test, made.actions, f"the training part of {where}")
    return made


def check_actions(episodes: Sequence[Episode], known: Sequence[str], who: str) -> None:
    """Raise for an action that ``who`` does not know."""
    for episode in episodes:
        for row, action in enumerate(episode.actions):
            if action not in known:
                raise DataError(
                    f"{who} knows no action {action!r}, which episode {episode.name!r} has at step "
                    f"{episode.first + row}; it has {', '.join(known[:20])}"
                )


def content_of(episode: Episode) -> str:
    """A fingerprint of what happened in an episode."""
    found = hashlib.sha256("\n".join(episode.actions).encode())
    for numbers in (episode.states, episode.rewards):
        found.update(repr(numbers.shape).encode() + np.ascontiguousarray(numbers).tobytes())
    return found.hexdigest()


def read_episodes(path: Path) -> Episodes:
    """An npz file with the arrays of ``NEEDED``, or a table with columns of these names, the
    numbers of the state being all others; a row is a step."""
    name = name_of(path)
    if not os.path.isfile(path):
        raise DataError(f"there are no episodes at {name}: an npz file or a table (.csv) is wanted")
    columns, table = _of_npz(path) if str(path).endswith(".npz") else _of_table(path)
    rows = [episode for episode in _episodes(table, name) if len(episode) >= LEAST]
    short = [each for each in dict.fromkeys(table.episode) if each not in {e.name for e in rows}]
    if not rows:
        raise DataError(f"{name} has no episode of at least {LEAST} steps")
    found = Episodes(columns, rows, short)
    if len(found.actions()) > MOST_ACTIONS:
        raise DataError(
            f"{name} has {len(found.actions()):,} different actions, more than {MOST_ACTIONS}: "
            "actions must be a few that can be chosen among, not amounts"
        )
    return found


@dataclass(frozen=True)
class Steps:
    """All rows of a file, a column each."""

    episode: list[str]
    step: list[int]
    state: Numbers
    action: list[str]
    reward: Numbers
    line: int
    """The number of the first row, as the file counts."""


def _of_npz(path: Path) -> tuple[list[str], Steps]:
    name, found = name_of(path), read_arrays(path, *NEEDED)
    rows, state = len(found["episode"]) if found["episode"].ndim else 0, found["state"]
    for key in NEEDED:
        shape = found[key].shape
        if len(shape) != (2 if key == "state" else 1) or shape[0] != rows:
            wanted = f"({rows:,}, numbers)" if key == "state" else f"({rows:,},)"
            raise DataError(f"{key!r} of {name} must be {wanted}, a row a step; it is {shape}")
    if not rows or not state.shape[1]:
        raise DataError(f"{name} has no steps, or states without numbers")
    names = found.get("names", np.arange(state.shape[1]))
    if names.shape != (state.shape[1],):
        raise DataError(
            f"'names' of {name} must be ({state.shape[1]},), one for each number of a state; it is "
            f"{names.shape}"
        )
    for key in ("state", "reward"):
        if not np.issubdtype(found[key].dtype, np.number) or not np.isfinite(found[key]).all():
            raise DataError(f"{key!r} of {name} must be numbers, all of them finite")
    whole = {key: _whole(found[key], key, name) for key in ("episode", "step", "action")}
    if not np.issubdtype(whole["step"].dtype, np.integer):
        raise DataError(f"'step' of {name} must be whole numbers")
    return [str(each) for each in names.tolist()], Steps(
        [str(each) for each in whole["episode"].tolist()],
        whole["step"].tolist(),
        state.astype(np.float64),
        [str(each) for each in whole["action"].tolist()],
        found["reward"].astype(np.float64),
        0,
    )


def _whole(values: NDArray[Any], key: str, name: str) -> NDArray[Any]:
    """Whole numbers or names; whole numbers may be stored as others."""
    if np.issubdtype(values.dtype, np.floating):
        if not np.isfinite(values).all() or not np.equal(np.mod(values, 1), 0).all():
            raise DataError(f"{key!r} of {name} must be whole numbers or names, not amounts")
        return values.astype(np.int64)
    return values


def _of_table(path: Path) -> tuple[list[str], Steps]:
    table = read_table(path)
    named = [key for key in NEEDED if key != "state"]
    places = table.places(named)
    others = [i for i in range(1, len(table.rows[0]) + 1) if i not in places]
    if not others:
        raise DataError(f"{table.name} has no column of a state beside {', '.join(named)}")
    columns = [table.rows[0][i - 1].strip() for i in others]
    episodes, steps, actions, numbers = [], [], [], []
    for line, cells in table.cells([*places, *others], 2):
        where = f"{table.name}, line {line}"
        episode, step, action = (cell.strip() for cell in cells[:3])
        if not step.isdecimal():
            raise DataError(f"{where}: a step is a whole number from 0 or 1; got {step!r:.40}")
        if not episode or not action or _amount(action):
            got = f"{'episode' if not episode else 'action'} {(episode and action)!r:.40}"
            raise DataError(f"{where}: an episode and an action are names or whole numbers; {got}")
        numbers.append([_number(cell, where) for cell in cells[3:]])
        episodes.append(episode)
        steps.append(int(step))
        actions.append(action)
    if not numbers:
        raise DataError(f"{table.name} has no steps below its names")
    values = np.array(numbers)
    return columns, Steps(episodes, steps, values[:, 1:], actions, values[:, 0], 2)


def _amount(text: str) -> bool:
    """Whether a text is a number that is not whole."""
    try:
        return float(text) % 1 != 0
    except ValueError:
        return False


def _number(cell: str, where: str) -> float:
    try:
        value = float(cell)
    except ValueError:
        value = math.nan
    if not math.isfinite(value):
        raise DataError(f"{where}: states and rewards are numbers such as -0.25; got {cell!r:.40}")
    return value


def _episodes(table: Steps, name: str) -> Iterator[Episode]:
    """Rows that stand together are an episode; its steps go up by one, from 0 or from 1."""
    edges = [i for i in range(1, len(table.step)) if table.episode[i] != table.episode[i - 1]]
    starts, seen = [0, *edges], set()
    for start in starts:
        own = table.episode[start]
        if own in seen:
            raise DataError(
                f"{name}, row {start + table.line}: episode {own!r} goes on behind another one; "
                "the steps of an episode must stand together"
            )
        seen.add(own)
    for start, stop in zip(starts, [*edges, len(table.step)], strict=True):
        own, rows = table.episode[start], slice(start, stop)
        _check_steps(table.step[rows], own, name)
        yield Episode(
            own, table.step[start], table.state[rows], table.action[rows], table.reward[rows]
        )


def _check_steps(steps: Sequence[int], own: str, name: str) -> None:
    if steps[0] not in (0, 1):
        raise DataError(
            f"episode {own!r} of {name} begins with step {steps[0]}: an episode is given from its "
            "beginning, step 0 or 1"
        )
    for before, step in pairwise(steps):
        if step > before + 1:
            raise DataError(
                f"episode {own!r} of {name} has a gap: step {step} stands behind step {before}"
            )
        if step <= before:
            raise DataError(
                f"episode {own!r} of {name} is not sorted: step {step} stands behind step {before}"
            )
