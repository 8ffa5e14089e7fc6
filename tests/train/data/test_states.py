"""States: parts by time, windows of each, and tables that are refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from regard.errors import DataError
from regard.train.data.states import divided_states
from regard.train.data.thingconfig import StatesConfig


def table(tmp_path: Path, states: list[str], low: str = "1") -> Path:
    path = tmp_path / "states.csv"
    rows = [f"{i},{i % 5},{low},{s}\n" for i, s in enumerate(states)]
    path.write_text("time,a,b,state\n" + "".join(rows))
    return path


def config(path: Path, **changes: Any) -> StatesConfig:
    given: dict[str, Any] = {"series": str(path), "state": "state", "columns": "a", "context": 4}
    return StatesConfig(**(given | changes))


def test_parts_and_windows(tmp_path: Path) -> None:
    found = divided_states(config(table(tmp_path, ["x", "y"] * 25)))
    assert [found.borders(part) for part in ("train", "valid", "test")] == [
        (0, 35),
        (35, 40),
        (40, 50),
    ]
    assert found.starts("train") == list(range(32))
    assert found.starts("valid") == [35, 36]
    assert found.starts("test") == [40, 44, 46]
    assert found.labels == ["x", "y"]
    mean, spread = found.scale()
    assert mean.tolist() == [2.0]
    assert spread.tolist() == pytest.approx([2**0.5])
    assert found.series.channels == ["a"]
    other = divided_states(config(table(tmp_path, ["y", "x"] * 25)))
    assert other.digest() != found.digest()


@pytest.mark.parametrize(
    ("states", "changes", "message"),
    [
        (["x", "y"] * 25, {"context": 6}, "a part of it has 5, and 6 are read at once"),
        (["x"] * 50, {}, "has one state, 'x': there is nothing to tell apart"),
        (["x", "y"] * 24 + ["x", "z"], {}, "has the state 'z' at 49, which never occurs"),
        (["x", "y"] * 25, {"columns": "b"}, "'b' of .* does not change in the training part"),
        (["x", "y"] * 25, {"state": "stat"}, "has no column 'stat': .*did you mean 'state'"),
        (["x", "y"] * 25, {"columns": "a,state"}, "'state' is the column of the states"),
        (["x", ""] * 25, {}, "row 2 of column 'state' of .* has no state"),
    ],
)
def test_refused(tmp_path: Path, states: list[str], changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        divided_states(config(table(tmp_path, states), **changes))
