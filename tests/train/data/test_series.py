"""A series divided by time: nothing of the future in what is learned or scaled."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.errors import DataError
from regard.train.data.series import DividedSeries, divided_series, some
from regard.train.data.thingconfig import SeriesConfig


def written(folder: Path, rows: int = 100, **how: Any) -> DividedSeries:
    file = folder / "s.csv"
    lines = [f"{i},{i * i % 17},{i}" for i in range(rows)]
    file.write_text("\n".join(["step,a,b", *lines]) + "\n")
    settings: dict[str, Any] = {"series": str(file), "horizon": 5, "context": 7}
    return divided_series(SeriesConfig(**(settings | how)))


def test_the_parts_follow_each_other_and_their_targets_do_not_overlap(tmp_path: Path) -> None:
    data = written(tmp_path)
    assert (data.valid, data.test) == (70, 80)
    starts = {part: data.starts(part) for part in ("train", "valid", "test")}
    assert starts == {"train": range(7, 66), "valid": range(70, 76), "test": range(80, 96)}


def test_windows_are_those_of_the_series(tmp_path: Path) -> None:
    data = written(tmp_path)
    found = list(data.windows("test"))
    assert [channel for channel, *_ in found] == [0, 1]
    _, past, future = found[1]
    back = past[3] * data.spread[1] + data.mean[1]
    assert back == pytest.approx(np.arange(76, 83), abs=1e-4)
    assert future[3] * data.spread[1] + data.mean[1] == pytest.approx(np.arange(83, 88), abs=1e-4)
    assert [len(past) for _, past, _ in data.windows("test", most=4)] == [4, 4]


def test_scales_know_nothing_of_the_future(tmp_path: Path) -> None:
    data = written(tmp_path)
    values = data.series.values
    assert data.mean == pytest.approx(values[:70].mean(0))
    assert data.spread == pytest.approx(values[:70].std(0))
    changed = values.copy()
    changed[70:] = 1e6
    other = DividedSeries(
        type(data.series)(data.series.clock, data.series.channels, changed), 70, 80, 7, 5, 1
    )
    assert other.scaled()[:70].tolist() == data.scaled()[:70].tolist()
    assert other.naive.tolist() == data.naive.tolist()
    assert data.naive[1] == 1


def test_the_usual_context(tmp_path: Path) -> None:
    assert written(tmp_path, context=0).context == 25
    assert written(tmp_path, context=0, season=11).context == 35
    assert written(tmp_path, 500, context=0, horizon=40).context == 40


def test_some_evenly_spread() -> None:
    assert list(some(range(10, 20), 0)) == list(range(10, 20))
    assert list(some(range(10, 21), 3)) == [10, 15, 20]


@pytest.mark.parametrize(
    ("rows", "how", "said"),
    [
        (30, {}, "has 30 rows, too few: its part to valid has no window that reads 7 steps and"),
        (100, {"season": 90, "context": 7}, "a season of 90 steps is longer than the training"),
        (100, {"columns": "a,c"}, "has no column 'c'"),
    ],
)
def test_refused(tmp_path: Path, rows: int, how: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError) as caught:
        written(tmp_path, rows, **how)
    assert said in str(caught.value)


def test_a_column_that_stands_still(tmp_path: Path) -> None:
    lines = [f"{i},1,{i}" for i in range(100)]
    (tmp_path / "s.csv").write_text("\n".join(["t,a,b", *lines]))
    with pytest.raises(DataError, match=r"the column 'a' of .* does not change in the training"):
        divided_series(SeriesConfig(series=str(tmp_path / "s.csv"), horizon=5))
