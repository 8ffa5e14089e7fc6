"""A series as pieces: the rows that each stands for, and what a forecast gives to them."""

from __future__ import annotations

import numpy as np
import pytest

from regard.errors import DataError
from regard.pieces.clock import read_clock
from regard.pieces.series import Forecast, Series, spans, steps


def hours(count: int) -> Series:
    texts = [f"2020-01-01 {hour:02d}:00" for hour in range(count)]
    values = np.arange(2.0 * count).reshape(count, 2)
    return Series(read_clock(texts, "t"), ["a", "b"], values)


def test_spans_have_times_and_rows() -> None:
    read = spans(hours(11), 1, 3, [2, 2, 3], ["[CLS]"])
    assert read.pieces.labels == [
        "[CLS]",
        "2020-01-01 03:00",
        "2020-01-01 05:00",
        "2020-01-01 07:00",
    ]
    assert read.pieces.places == [(), (3, 5), (5, 7), (7, 10)]
    assert read.pieces.special == [True, False, False, False]
    assert (read.pieces.noun, read.pieces.nouns) == ("patch", "patches")
    assert read.rows == (3, 10)


def test_spans_may_lie_ahead() -> None:
    assert spans(hours(3), 0, 3, [1, 1]).pieces.labels == ["2020-01-01 03:00", "2020-01-01 04:00"]


def test_a_channel_by_its_name() -> None:
    series = hours(3)
    assert (series.channel(None), series.channel("b")) == (0, 1)
    with pytest.raises(DataError, match="there is no column 'c' among a, b"):
        series.channel("c")


def test_the_fingerprint_knows_times_names_and_numbers() -> None:
    series = hours(3)
    others = [
        Series(series.clock, ["a", "c"], series.values),
        Series(series.clock, series.channels, series.values + 1),
        Series(hours(4).clock, series.channels, series.values),
    ]
    assert len({each.digest() for each in (series, *others)}) == 4


def forecast(weights: np.ndarray[tuple[int, ...], np.dtype[np.float32]]) -> Forecast:
    series = hours(7)
    past = spans(series, 0, 1, [2, 2])
    return Forecast("transformer", past, np.array([1.0, 2, 3, 4]), {}, weights, 2)


def test_what_came_and_the_times_of_a_forecast() -> None:
    made = forecast(np.zeros((1, 1, 2, 2), np.float32))
    assert made.times == [f"2020-01-01 {hour:02d}:00" for hour in (5, 6, 7, 8)]
    assert made.came.tolist() == [10, 12]
    whole = made.whole
    assert whole.places == [(0, 2), (2, 4), (4, 6), (6, 8)]
    assert whole.labels == [f"2020-01-01 {hour:02d}:00" for hour in (1, 3, 5, 7)]
    assert whole.backdrop is not None
    assert whole.backdrop.values.tolist() == [[2, 4, 6, 8, 1, 2, 3, 4]]
    assert whole.backdrop.since == 4


def test_each_step_is_a_piece_drawn_on_the_channels() -> None:
    read = steps(hours(7), 2, 5)
    assert read.labels == [f"2020-01-01 {hour:02d}:00" for hour in (2, 3, 4)]
    assert read.places == [(0, 1), (1, 2), (2, 3)]
    assert read.backdrop is not None
    assert read.nouns == "steps"
    assert read.backdrop.values.tolist() == hours(7).values[2:5].T.tolist()


def test_the_weights_of_a_layer_and_a_head() -> None:
    weights = np.arange(24, dtype=np.float32).reshape(2, 3, 2, 2)
    made = forecast(weights)
    looked = made.looked()
    assert looked is not None
    assert looked.tolist() == weights[1].mean(0).tolist()
    chosen = made.looked(0, 2)
    assert chosen is not None
    assert chosen.tolist() == weights[0, 2].tolist()
    with pytest.raises(DataError, match="layer must be from 0 to 1, got 2"):
        made.looked(2)
    none = forecast(np.zeros((0, 1, 0, 2), np.float32))
    assert none.looked() is None
    with pytest.raises(DataError, match="layer must be none: transformer has no attention, got 0"):
        none.looked(0)
