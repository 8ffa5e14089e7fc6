"""Settings of what is no text: everything that is wrong with them is said."""

from __future__ import annotations

from typing import Any

import pytest

from regard.errors import ConfigError
from regard.train.data.thingconfig import (
    EpisodesConfig,
    HistoryConfig,
    ImagesConfig,
    SeriesConfig,
    StatesConfig,
)


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (ImagesConfig, {"images": "a", "test_share": 0.5}, "test_share must be above 0 and under"),
        (ImagesConfig, {"images": "a", "train_share": 0}, "train_share must be above 0, at most 1"),
        (SeriesConfig, {}, "series is missing: a table with a column of times"),
        (SeriesConfig, {"series": "a", "horizon": 0}, "horizon must be at least 1"),
        (SeriesConfig, {"series": "a", "horizon": 3000}, "context times horizon may be 4,000,000"),
        (StatesConfig, {"series": "a"}, "state is missing: the column with the state"),
        (StatesConfig, {"series": "a", "state": "b", "context": 1}, "context must be at least 2"),
        (HistoryConfig, {}, "history is missing: a table of user, item and time"),
        (HistoryConfig, {"history": "a", "columns": "user=1"}, "columns are written user=NAME"),
        (EpisodesConfig, {}, "episodes is missing: an npz file or a table of recorded steps"),
    ],
)
def test_what_is_wrong_is_said(kind: Any, given: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        kind(**given)


def test_the_columns_of_numbers_one_by_one() -> None:
    assert SeriesConfig(series="a", columns=" x, y ,,z").names == ["x", "y", "z"]
    assert SeriesConfig(series="a").names == []
