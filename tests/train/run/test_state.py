"""State: which validations are the best, and random generators that go on where they were."""

from __future__ import annotations

import json
import random

import numpy as np
import pytest
import torch

from regard.train.config import TrainConfig
from regard.train.run.state import Ranking, RunState, random_state, restore_random, seed_all


def remembered(ranking: Ranking, *figures: tuple[float, float]) -> RunState:
    state = RunState()
    for step, (figure, loss) in enumerate(figures, 1):
        state.step = step
        ranking.remember(state, figure, loss)
    return state


def test_the_best_and_how_long_ago() -> None:
    state = remembered(Ranking(TrainConfig(), higher=True), (1, 9), (3, 9), (2, 9), (2.5, 9))
    assert (state.best, state.best_step, state.waited, state.validated) == (3, 2, 2, 4)
    state = remembered(Ranking(TrainConfig(monitor="loss"), higher=True), (1, 9), (3, 9))
    assert (state.best, state.best_step) == (1, 1), "a loss is better when lower"


def test_of_equal_figures_the_lower_loss_is_better() -> None:
    state = remembered(Ranking(TrainConfig(), higher=True), (0, 5.0), (0, 4.0), (0, 4.5))
    assert (state.best_step, state.best_loss, state.waited) == (2, 4.0, 1)


@pytest.mark.parametrize(("of", "steps"), [("best", ["2", "4"]), ("last", ["3", "4"])])
def test_what_waits_to_be_averaged(of: str, steps: list[str]) -> None:
    config = TrainConfig(average=2, average_of=of)  # type: ignore[arg-type]
    state = remembered(Ranking(config, higher=True), (1, 9), (3, 9), (2, 9), (4, 9))
    assert list(state.scores) == steps


def test_an_average_of_the_same_score_needs_the_lower_loss() -> None:
    ranking = Ranking(TrainConfig(), higher=True)
    state = remembered(ranking, (0, 5.0), (0, 4.0))
    assert [ranking.keeps(state, 0, loss) for loss in (3.9, 4.0, 4.1)] == [True, True, False]
    assert ranking.keeps(state, 0.1, 9.0)
    assert not ranking.keeps(remembered(ranking, (3, 9.0)), 2, 1.0)
    assert ranking.keeps(RunState(), 0, 9.0), "nothing is there yet"


def test_random_states_through_json() -> None:
    seed_all(3)
    random.random(), np.random.standard_normal(), torch.rand(5)
    state = json.loads(json.dumps(random_state()))
    expected = [random.gauss(0, 1), float(np.random.standard_normal()), torch.rand(1).item()]
    seed_all(4)
    restore_random(state)
    again = [random.gauss(0, 1), float(np.random.standard_normal()), torch.rand(1).item()]
    assert again == expected
