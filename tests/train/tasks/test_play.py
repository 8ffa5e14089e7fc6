"""Play in an environment that can be computed by hand: a corridor."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from regard.errors import DataError, MissingExtraError
from regard.models.actor import Actor, sized_actor
from regard.models.guesses import LinearGuesses
from regard.train.tasks import play as playing
from regard.train.tasks.play import (
    Played,
    act_asked,
    by_chance,
    by_model,
    by_state,
    open_environment,
    play,
)


class Corridor:
    """From place seed % 3 on: action 5 goes on, which gives 1, action 3 stays, which gives 0.25;
    at place 4 it ends, after seven steps it is cut."""

    def reset(self, *, seed: int) -> tuple[Any, dict[str, Any]]:
        self.place, self.steps = seed % 3, 0
        return np.array([self.place, 1]), {}

    def step(self, action: int) -> tuple[Any, Any, bool, bool, dict[str, Any]]:
        assert action in (3, 5)
        self.place += action == 5
        self.steps += 1
        reward = 1.0 if action == 5 else 0.25
        return np.array([self.place, 1]), reward, self.place == 4, self.steps == 7, {}


ACTIONS = ("3", "5")


def actor(design: str = "transformer") -> Actor:
    torch.manual_seed(2)
    return Actor(sized_actor(design, "tiny", actions=ACTIONS, states=2, context=3, steps=5)).eval()


def test_returns_by_hand() -> None:
    seen: list[Played] = []

    def onwards(played: Played) -> NDArray[np.int64]:
        seen.append(played)
        return np.ones(len(played.rows), np.int64)

    assert play(Corridor, ACTIONS, onwards, [0, 1, 2]).tolist() == [4, 3, 2]
    assert [played.rows for played in seen] == [[0, 1, 2], [0, 1, 2], [0, 1], [0]]
    assert seen[2].states[:, :, 0].tolist() == [[0, 1, 2], [1, 2, 3]]
    assert seen[2].rewards.tolist() == [[1, 1], [1, 1]]
    still = play(Corridor, ACTIONS, lambda p: np.zeros(len(p.rows), np.int64), [5, 6])
    assert still.tolist() == [1.75, 1.75]


def test_an_endless_episode_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(playing, "MOST_STEPS", 3)
    assert play(Corridor, ACTIONS, lambda p: np.ones(len(p.rows), np.int64), [0]).tolist() == [3]


@torch.no_grad()
def test_the_model_reads_what_is_still_to_come() -> None:
    """Asked for 9, after rewards 1 and 0.25, it reads 9, 8 and 7.75 to go."""
    model = actor()
    states = np.array([[[0.0, 1.0], [1.0, 1.0], [1.0, 1.0]]])
    played = Played(states, np.array([[1, 0]]), np.array([[1, 0.25]]), [0])
    logits = model(
        torch.tensor([[9.0, 8.0, 7.75]]),
        torch.tensor(states, dtype=torch.float32),
        torch.tensor([[1, 0]]),
        torch.tensor([[0, 1, 2]]),
    )[0, -1]
    chosen = by_model(model, [9.0], [True], [0])(played)
    assert chosen.tolist() == [int(logits.argmax())]
    drawn = [int(by_model(model, [9.0], [False], [seed])(played)[0]) for seed in range(200)]
    assert np.mean(drawn) == pytest.approx(float(logits.softmax(-1)[1]), abs=0.1)


def test_longer_than_it_reads_and_drawn_by_seeds_alone() -> None:
    model = actor("lstmn")
    got = act_asked(Corridor, model, [4.0, 1.0], [0, 1, 2])
    assert [each.asked for each in got] == [4.0, 1.0]
    assert got == act_asked(Corridor, model, [4.0, 1.0], [0, 1, 2])
    assert set(got[0].to_dict()) == {"name", "asked", "drawn", "likeliest"}
    one, two = (play(Corridor, ACTIONS, by_chance(2, [7, 8]), [7, 8]) for _ in range(2))
    assert one.tolist() == two.tolist()


def test_a_linear_map_of_the_last_state() -> None:
    guesses = LinearGuesses(0, np.array([[-1.0, 1.0], [0.0, 0.0], [2.5, -2.5]]))  # on from 3
    states = np.array([[[9.0, 1], [2, 1]], [[0, 1], [3, 1]]])
    played = Played(states, np.ones((2, 1), np.int64), np.ones((2, 1)), [0, 1])
    assert by_state(guesses)(played).tolist() == [0, 1]


def test_without_gymnasium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(MissingExtraError, match="needs gymnasium: pip install gymnasium"):
        open_environment("CartPole-v1", ACTIONS, 4)


def test_environments_of_gymnasium() -> None:
    pytest.importorskip("gymnasium")
    make = open_environment("CartPole-v1", ("0", "1"), 4)
    right = play(make, ("0", "1"), lambda p: np.ones(len(p.rows), np.int64), [1, 2])
    assert 8 <= right.min() <= right.max() <= 11
    with pytest.raises(DataError, match="gymnasium makes no environment 'NoSuch-v1'"):
        open_environment("NoSuch-v1", ("0", "1"), 4)
    with pytest.raises(DataError, match="actions of 'CartPole-v1' are 0 to 1, those of the model"):
        open_environment("CartPole-v1", ("0", "2"), 4)
    with pytest.raises(DataError, match=r"actions of 'CartPole-v1' are 0 to 1, .* left, right"):
        open_environment("CartPole-v1", ("left", "right"), 4)
    with pytest.raises(DataError, match=r"has the shape \(4,\), the model reads \(3,\)"):
        open_environment("CartPole-v1", ("0", "1"), 3)
    with pytest.raises(DataError, match="actions of 'Pendulum-v1' are amounts"):
        open_environment("Pendulum-v1", ("0", "1"), 3)
