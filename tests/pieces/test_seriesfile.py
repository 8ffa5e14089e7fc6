"""Tables of times and numbers: read as they are meant, or refused in one line."""

from __future__ import annotations

import gzip
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError, FileError
from regard.pieces import seriesfile
from regard.pieces.series import Series
from regard.pieces.seriesfile import GROUPED, read_series


def written(folder: Path, text: str | bytes, **how: Any) -> Series:
    file = folder / "t.csv"
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return read_series(file, **how)


@pytest.mark.parametrize(
    "text",
    [
        "date,a,b\n2020-01-01,1.5,-2\n2020-01-02,2.25,3e2\n",
        "date;a;b\n2020-01-01;1,5;-2\n2020-01-02;2,25;3e2\n",
        "date\ta\tb\n2020-01-01\t1,5\t-2\n2020-01-02\t2,25\t3e2\n",
        '"date","a","b"\r\n"2020-01-01","1,5","-2"\r\n"2020-01-02","2,25","3e2"\r\n',
        "\ufeffdate;a;b\n2020-01-01;1.5;-2\n\n2020-01-02;2.25;300\n",
        "a,Date,b\n1.5,2020-01-01,-2\n2.25,2020-01-02,+300\n",
    ],
)
def test_one_series_in_many_dialects(tmp_path: Path, text: str) -> None:
    series = written(tmp_path, text)
    assert series.channels == ["a", "b"]
    assert series.values.tolist() == [[1.5, -2], [2.25, 300]]
    assert series.clock.texts == ["2020-01-01", "2020-01-02"]


def test_gzip_columns_times_and_a_table_without_times(tmp_path: Path) -> None:
    text = "x,when,y\nhigh,2020-01-01,1\nlow,2020-01-02,2\n"
    series = written(tmp_path, gzip.compress(text.encode()), time="when", columns=["y"])
    assert series.values.tolist() == [[1], [2]]
    alone = written(tmp_path, "y\n5\n7\n11\n")
    assert alone.values.ravel().tolist() == [5, 7, 11]
    assert alone.clock.name(3) == "+1"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("date;a\n1;1,234\n2;12,345\n", "the comma in '1,234' of"),
        ("date;a\n1;1.234\n2;12.345\n", "the point in '1.234' of"),
        ("date;a\n1;1.234,5\n2;2,5\n", "both points and commas"),
        ("date;a\n1;1.5\n2;2,5\n", "both points and commas (1.5 and 2,5)"),
        ("date,a\n1,1,5\n2,2,5\n", "line 2 of"),
        ("date,a\n1,1.5\n2,1.234.567\n", "has '1.234.567', which is no number"),
        ("date,a\n1,1.5\n2,$3\n", "row 2 of column 'a' of"),
        ("date,a\n1,1_000\n2,3\n", "has '1_000', which is no number"),
        ("date,a\n1,inf\n2,3\n", "has 'inf', which is no number"),
        ("date,a\n1,1e999\n2,3\n", "numbers that are too large"),
        ("date,a\n1,1\n2,\n", "row 2 of column 'a' of"),
        ("date,a\n1,1\n2,NA\n", "has no value: fill it, or leave the column out by --columns"),
        ("date,a\n1,٣\n2,4\n", "which is no number"),
        ("1,2\n3,4\n", "has numbers: it must name the columns"),
        ("a,a\n1,2\n", "must each have a name of its own"),
        ("a,\n1,2\n", "must each have a name of its own"),
        ("date,a\n", "has no rows"),
        ("", "has no rows"),
        ("date,a\n2,1\n1,2\n", "must go forwards; '1' comes after '2'"),
        ("date,a\n1,1\n2,2\n3,2\n5,3\n", "has a gap from '3' to '5'"),
        ('date,a\n1,"1\n2,2\n', "is no table"),
    ],
)
def test_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(DataError) as caught:
        written(tmp_path, text)
    assert said in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_the_user_says_of_decimals_holds(tmp_path: Path) -> None:
    text = "date;a\n1;1,234\n2;12,345\n"
    assert written(tmp_path, text, decimal=",").values.ravel().tolist() == [1.234, 12.345]
    with pytest.raises(DataError, match="has '1,234', which is no number"):
        written(tmp_path, text, decimal=".")
    assert written(tmp_path, "date,a\n1,1.234\n2,12.345\n").values[1, 0] == 12.345
    assert written(tmp_path, "date;a\n1;0,234\n2;12,345\n").values[1, 0] == 12.345


def test_unknown_columns_bytes_and_bounds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(DataError, match="has no column 'clos': it has date, close; did you mean"):
        written(tmp_path, "date,close\n1,2\n", columns=["clos"])
    with pytest.raises(DataError, match="is no table in UTF-8"):
        written(tmp_path, b"date,a\n1,\xff\n")
    with pytest.raises(FileError, match="cannot read"):
        read_series(tmp_path / "none.csv")
    monkeypatch.setattr(seriesfile, "MOST_BYTES", 8)
    with pytest.raises(FileError, match="more than 8 bytes"):
        written(tmp_path, "date,a\n1,2\n2,3\n")


@given(
    st.lists(st.floats(-1e9, 1e9, allow_nan=False), min_size=1, max_size=20),
    st.sampled_from([(",", "."), (";", ","), (";", "."), ("\t", ",")]),
)
def test_a_number_is_read_as_it_was_written_or_refused(
    numbers: list[float], dialect: tuple[str, str]
) -> None:
    between, point = dialect
    lines = [f"{i}{between}{repr(x).replace('.', point)}" for i, x in enumerate(numbers)]
    text = "\n".join([f"t{between}a", *lines]) + "\n"
    with TemporaryDirectory() as folder:
        marked = [line for line in lines if point in line.partition(between)[2]]
        double = between != "," and marked
        if double and all(GROUPED.fullmatch(line.partition(between)[2]) for line in marked):
            with pytest.raises(DataError, match="may stand for decimals or for thousands"):
                written(Path(folder), text)
        else:
            found = written(Path(folder), text)
            assert np.array_equal(found.values[:, 0], np.array(numbers))
