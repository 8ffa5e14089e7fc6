"""Tables of user, item and time: found, put in order, or refused in one line."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import RegardError
from regard.train.data.histories import read_histories, read_titles


def table(folder: Path, text: str, name: str = "t.tsv") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_each_user_in_the_order_of_time(tmp_path: Path) -> None:
    text = "user_id:token\titem_id:token\trating:float\ttimestamp:float\n"
    text += "u\ta\t5\t30\nv\ta\t1\t9\nu\tb\t4\t10\n\nu\tc\t3\t10.0\nu\td\t3\t20\n"
    found = read_histories(table(tmp_path, text))
    assert [history.user for history in found.users] == ["u", "v"]
    assert found.users[0].items == ["b", "c", "d", "a"]
    assert found.users[0].times == ["10", "10.0", "20", "30"]
    assert found.users[0].tied == [False, True, False, False]
    assert (found.events, found.tied, found.moved) == (5, 1, 1)
    assert found.of("v").items == ["a"]


@pytest.mark.parametrize(
    ("text", "name", "columns"),
    [
        ("u\ta\t1\nu\tb\t2\n", "t.tsv", None),
        ("user\titem\ttime\nu\ta\t1\nu\tb\t2\n", "t.tsv", None),
        ('userId,movieId,rating,timestamp\nu,a,3,1\nu,"b",4,2\n', "t.csv", None),
        ("u\ta\t3\t1\nu\tb\t3\t2\n", "t.tsv", {"user": "1", "item": "2", "time": "4"}),
        ("who\twhat\twhen\nu\ta\t1\nu\tb\t2\n", "t.tsv",
         {"user": "who", "item": "what", "time": "when"}),
        ("u\ta\t2024-01-31\nu\tb\t2024-01-31T12:30:00\n", "t.tsv", None),
        ("u\tb\t2024-01-31T12:00:00+00:00\nu\ta\t2024-01-31T12:30:00+02:00\n", "t.tsv", None),
    ],
)  # fmt: skip
def test_tables_of_many_kinds(
    tmp_path: Path, text: str, name: str, columns: dict[str, str] | None
) -> None:
    assert read_histories(table(tmp_path, text, name), columns).users[0].items == ["a", "b"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("u\ta\t3\t1\n", "line 1: no column is called 'user'; the line has 'u', 'a', '3', '1'"),
        ("user\titem\nu\ta\n", "line 1: no column is called 'time'"),
        ("u\ta\t1\nu\tb\tsoon\n", "line 2: a time is a number or a date such as 2024-01-31"),
        ("u\ta\t1\nu\tb\t1,5\n", "got '1,5'"),
        ("u\ta\t1\nu\tb\tnan\n", "got 'nan'"),
        ("u\ta\t1\nu\tb\t2024-01-31\n", "two kinds of times: numbers (line 1) and dates (line 2)"),
        ("u\ta\t1\nu\tb\n", "line 2: expected 3 columns as in the first line"),
        ("u\ta\t1\n\tb\t2\n", "line 2: the user is missing"),
        ("user\titem\ttime\n", "has no line with a user, an item and a time"),
    ],
)
def test_refused_in_one_line(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(RegardError) as error:
        read_histories(table(tmp_path, text))
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_a_user_who_is_not_there(tmp_path: Path) -> None:
    found = read_histories(table(tmp_path, "anna\ta\t1\nbob\tb\t2\n"))
    with pytest.raises(RegardError, match=r"no user 'ana' among 2 \(such as anna, bob\).*'anna'"):
        found.of("ana")


def test_the_fingerprint_knows_users_items_and_their_order(tmp_path: Path) -> None:
    texts = ["u\ta\t1\nu\tb\t2\n", "u\ta\t2\nu\tb\t1\n", "v\ta\t1\nv\tb\t2\n", "u\ta\t1\nv\tb\t2\n"]
    found = [read_histories(table(tmp_path, text)).digest() for text in texts]
    assert len(set(found)) == 4
    assert read_histories(table(tmp_path, "u\tb\t9\nu\ta\t3\n")).digest() == found[0]


def test_titles(tmp_path: Path) -> None:
    path = table(tmp_path, "a\tAlien  (1979)\t1979\nb\tBrazil\n\n")
    assert read_titles(path) == {"a": "Alien (1979)", "b": "Brazil"}
    with pytest.raises(RegardError, match="line 1: an item and its title are wanted"):
        read_titles(table(tmp_path, "a\n"))


def test_columns_beyond_the_table(tmp_path: Path) -> None:
    path = table(tmp_path, "u\ta\t1\n")
    with pytest.raises(RegardError, match="has 3 columns, counted from 1; got user=1, item=2"):
        read_histories(path, {"user": "1", "item": "2", "time": "4"})
