"""Tables: tabs and commas, columns by number and by name, rows that do not fit."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from regard.errors import DataError
from regard.train.data.table import is_csv, read_table


def test_cells_keep_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "t.tsv"
    path.write_text("a\tb\tc\n\n1\t2\t3\n")
    table = read_table(path)
    assert (table.places(["c", "a"]), table.between) == ([3, 1], "tab")
    assert list(table.cells([3, 1], first=2)) == [(2, ["", ""]), (3, ["3", "1"])]
    assert list(table.cells([2])) == [(1, ["b"]), (2, [""]), (3, ["2"])]


def test_a_comma_in_quotes_is_text(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text('a,b\n"x, y","two\nlines"\n')
    assert list(read_table(path).cells([1, 2], first=2)) == [(2, ["x, y", "two lines"])]
    path.write_text('a,b\n"x\ny",1\nz\n')
    with pytest.raises(DataError, match="line 4: expected 2 columns"):
        list(read_table(path).cells([1, 2], first=2))
    assert [is_csv(name) for name in ("a.csv", "a.csv.gz", "csv", "a.tsv")] == [True, True, 0, 0]


def test_a_very_long_text_is_read_as_of_any_table(tmp_path: Path) -> None:
    path, usual = tmp_path / "t.csv", csv.field_size_limit()
    path.write_text(f'a,b\n"{"word " * 40_000}",x\n')
    ((_, (text, _)),) = read_table(path).cells([1, 2], first=2)
    assert len(text) == 200_000
    assert csv.field_size_limit() == usual


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('a,b\n"x\ny",1\n"never closed,2\nz,3\n', "unexpected end of data, in the row from line 4"),
        ("a,b\rc,d\n", "new-line character seen in unquoted field, in the row from line 1 on"),
    ],
)
def test_what_is_no_csv_is_told_with_its_line(content: str, message: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(content, newline="")
    with pytest.raises(DataError, match=rf"t.csv' is not CSV: {message}"):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("content", "columns", "message"),
    [
        ("a\tb\n", [3], "line 1: column 3 is wanted, with a tab between columns; got 2 columns"),
        ("a\n", [1, 2], "line 1: columns 1 and 2 are wanted, with a tab between columns; got 1 co"),
        ("a\tb\n\nc\n", [1], "line 3: expected 2 columns as in the first line, with a tab"),
    ],
)
def test_rows_that_do_not_fit(
    content: str, columns: list[int], message: str, tmp_path: Path
) -> None:
    (tmp_path / "t").write_text(content)
    with pytest.raises(DataError) as caught:
        list(read_table(tmp_path / "t").cells(columns))
    assert message in str(caught.value)


def test_a_name_that_is_not_there_or_there_twice(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("stars\treview\tstars\n")
    table = read_table(tmp_path / "t")
    with pytest.raises(DataError, match=r"has no column 'reviews'; .* stars, review, stars;.*revi"):
        table.places(["reviews"])
    with pytest.raises(DataError, match="has more than one column 'stars'"):
        table.places(["stars"])
