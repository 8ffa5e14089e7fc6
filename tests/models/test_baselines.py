"""Baselines by hand: the last value, the last season, and a linear map that is found again."""

from __future__ import annotations

import numpy as np
import pytest

from regard.errors import FileError
from regard.models.baselines import Baselines, fit_linear


def test_by_hand() -> None:
    linear = np.zeros((5, 4))
    linear[0, 1] = 2.0
    said = Baselines(3, linear).say(np.array([[7.0, 1, 2, 3, 5]]))
    assert said["last"].tolist() == [[5, 5, 5, 5]]
    assert said["season"].tolist() == [[2, 3, 5, 2]]
    assert said["linear"].tolist() == [[5, 5 + 2 * (7 - 5), 5, 5]]


@pytest.mark.parametrize("season", [1, 6])
def test_no_season_in_a_window_that_has_none(season: int) -> None:
    assert list(Baselines(season, np.zeros((5, 4))).say(np.zeros((2, 5)))) == ["last", "linear"]


def test_least_squares_find_the_map_that_made_the_series() -> None:
    chance = np.random.default_rng(3)
    true = chance.normal(size=(7, 3))
    true[-1] = 0  # x_n − x_n is nothing: its weights are free
    pairs = []
    for _ in range(5):
        past = chance.normal(size=(200, 7))
        last = past[:, -1:]
        pairs.append((past, last + (past - last) @ true))
    assert np.abs(fit_linear(pairs) - true).max() < 1e-3


def test_a_series_that_stands_still_goes_on_so() -> None:
    linear = fit_linear([(np.full((4, 5), 3.0), np.full((4, 2), 3.0))])
    assert Baselines(1, linear).say(np.full((1, 5), 9.0))["linear"].tolist() == [[9, 9]]


def test_written_and_read() -> None:
    made = Baselines(24, np.array([[0.123456789, -2.0], [3e-7, 4.0]]))
    again = Baselines.from_text(made.to_text(), "b")
    assert again.season == 24
    assert again.linear == pytest.approx(made.linear, rel=1e-5)


@pytest.mark.parametrize(
    "text", ["", "{}", '{"season": 0, "linear": [[1]]}', "[1]", '{"season":1,"linear":[1]}']
)
def test_another_file_is_refused(text: str) -> None:
    with pytest.raises(FileError, match="f is no file of baselines"):
        Baselines.from_text(text, "f")
