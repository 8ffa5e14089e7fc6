"""Times of a series: read in one way, at one distance, and counted on."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.pieces.clock import read_clock


@pytest.mark.parametrize(
    ("texts", "season", "next_one"),
    [
        (["2020-01-01 00:00", "2020-01-01 01:00", "2020-01-01 02:00"], 24, "2020-01-01 03:00"),
        (["2020-01-01T00:00", "2020-01-01T00:15"], 96, "2020-01-01 00:30"),
        (["2020-02-27", "2020-02-28", "2020-02-29"], 7, "2020-03-01"),
        (["20200227", "20200228"], 7, "2020-02-29"),
        (["2020-01-06", "2020-01-13"], 52, "2020-01-20"),
        (["2019-11-01", "2019-12-01", "2020-01-01"], 12, "2020-02-01"),
        (["2019-12-31", "2020-01-31", "2020-02-29"], 12, "2020-03-31"),
        (["2020-01", "2020-02", "2020-03"], 12, "2020-04-01"),
        (["Jan 1 2000", "Apr 1 2000", "Jul 1 2000"], 4, "2000-10-01"),
        (["31.12.2019", "01.01.2020"], 7, "2020-01-02"),
        (["2020/01/01 00:00", "2020/01/01 01:00"], 24, "2020-01-01 02:00"),
        (["2020-01-01T00:00+01:00", "2020-01-01T01:00+01:00"], 24, "2020-01-01 01:00+00:00"),
        (["1700", "1701", "1702"], 1, "1703"),
        (["1749.042", "1749.125", "1749.208"], 1, "1749.291"),
        (["2020-01-01", "2021-01-01", "2022-01-01"], 1, "2023-01-01"),
        (["9999-12-30", "9999-12-31"], 7, "+1"),
    ],
)
def test_what_comes_next(texts: list[str], season: int, next_one: str) -> None:
    clock = read_clock(texts, "the column 'date'")
    assert clock.season == season
    assert clock.name(len(texts)) == next_one
    assert [clock.name(i) for i in range(len(texts))] == texts


@given(
    st.datetimes(datetime(1900, 1, 1), datetime(2100, 1, 1)),
    st.integers(1, 10**6),
    st.integers(2, 30),
)
def test_times_at_one_distance_go_on_at_it(first: datetime, seconds: int, count: int) -> None:
    first = first.replace(microsecond=0)
    texts = [(first + timedelta(seconds=seconds * i)).isoformat() for i in range(count)]
    clock = read_clock(texts, "t")
    assert clock.step == seconds
    last = first + timedelta(seconds=seconds * count)
    assert clock.name(count) in (last.isoformat(" ", "minutes"), last.date().isoformat())


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (
            ["2020-01-01", "2020-01-02", "2020-01-03", "2020-01-05"],
            "has a gap from '2020-01-03' to '2020-01-05': 2 days, where 1 day is usual",
        ),
        (["1", "2", "3", "3.2"], "a shorter step from '3' to '3.2': 0.2, where 1 is usual"),
        (["2020-01-02", "2020-01-01"], "must go forwards; '2020-01-01' comes after '2020-01-02'"),
        (["2020-01-01", "2020-01-01"], "must go forwards"),
        (["2020-01-01", "soon"], "has 'soon' where '2020-01-01' stands in the first row"),
        (["2020-01-01T00:00", "2020-01-01T01:00+01:00"], "times are written in one way"),
        (["03/04/2020", "03/05/2020"], "has '03/04/2020': times are dates such as 2020-03-04"),
    ],
)
def test_refused(texts: list[str], said: str) -> None:
    with pytest.raises(DataError) as caught:
        read_clock(texts, "the column 'date'")
    assert said in str(caught.value)


def test_rows_that_are_steps_have_no_season_and_no_dates_ahead() -> None:
    clock = read_clock(["2020-01-03", "2020-01-06", "2020-01-07"], "t", steps=True)
    assert clock.season == 1
    assert (clock.name(0), clock.name(3), clock.name(5)) == ("2020-01-03", "+1", "+3")
    with pytest.raises(DataError, match="must go forwards"):
        read_clock(["2020-01-06", "2020-01-03"], "t", steps=True)


def test_the_row_of_a_time() -> None:
    clock = read_clock(["2020-01-01 00:00", "2020-01-01 12:00", "2020-01-02 00:00"], "t")
    assert clock.row("2020-01-02") == 2
    assert clock.row("2020-01-01 12") == 1
    with pytest.raises(DataError, match="there is no time '2021': times go from '2020-01-01 00"):
        clock.row("2021")
    with pytest.raises(DataError, match="there is no time '': times go from"):
        clock.row("")
