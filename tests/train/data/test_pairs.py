"""Pairs: columns, aligned files, empty lines."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from regard.errors import DataError
from regard.train.data.pairs import Pair, read_aligned, read_pairs


def file(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_columns_are_chosen(tmp_path: Path) -> None:
    path = file(tmp_path / "t", "Hi.\tHallo!\tCC-BY\nRun!\tLauf!\tCC-BY\n")
    assert read_pairs(path).rows == [Pair("Hi.", "Hallo!", 1), Pair("Run!", "Lauf!", 2)]
    assert read_pairs(path, 2, 1).rows[0] == Pair("Hallo!", "Hi.", 1)
    assert read_pairs(path, 1, 3).rows[1].target == "CC-BY"


def test_columns_by_name(tmp_path: Path) -> None:
    path = file(tmp_path / "t.tsv", "en\tde\tby\nHi.\tHallo!\tA\n\tLauf!\tB\n")
    read = read_pairs(path, columns=("de", "en"))
    assert read.rows == [Pair("Hallo!", "Hi.", 2)]
    assert read.empty == [3]
    with pytest.raises(DataError, match=r"has no column 'dee'; its first line names en, de, by;"):
        read_pairs(path, columns=("dee", "en"))
    with pytest.raises(DataError, match="has more than one column 'en'"):
        read_pairs(file(tmp_path / "u", "en\ten\na\tb\n"), columns=("en", "de"))


def test_csv(tmp_path: Path) -> None:
    text = 'de,en\n"Ja, ""gern"".",Yes.\n"zwei\nZeilen",two lines\n'
    rows = read_pairs(file(tmp_path / "t.csv", text), columns=("de", "en")).rows
    assert [pair.texts() for pair in rows] == [
        ('Ja, "gern".', "Yes."),
        ("zwei Zeilen", "two lines"),
    ]
    packed = tmp_path / "t.csv.gz"
    packed.write_bytes(gzip.compress(b"a,b\n"))
    assert read_pairs(packed).rows == [Pair("a", "b", 1)]
    with pytest.raises(DataError, match=r"line 2: expected 2 columns .* a comma between"):
        read_pairs(file(tmp_path / "u.csv", "a,b\nc\n"))
    with pytest.raises(DataError, match="is not CSV: "):
        read_pairs(file(tmp_path / "v.csv", '"a"b,c\n'))


def test_empty_sides_are_counted(tmp_path: Path) -> None:
    read = read_pairs(file(tmp_path / "t", "a\tb\n\tb\n\na\t \nc\td\n"))
    assert [pair.number for pair in read.rows] == [1, 5]
    assert read.empty == [2, 3, 4]


def test_a_line_with_other_columns(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"line 2: expected 2 columns .* got 3"):
        read_pairs(file(tmp_path / "t", "a\tb\na\tb\tc\n"))
    with pytest.raises(DataError, match=r"line 3: expected 2 columns .* got 1"):
        read_pairs(file(tmp_path / "t", "a\tb\n\nab\n"))


def test_too_few_columns(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"columns 1 and 2 are wanted.*got 1 column"):
        read_pairs(file(tmp_path / "t", "a b\n"))
    with pytest.raises(DataError, match="two different columns"):
        read_pairs(file(tmp_path / "t", "a\tb\n"), 2, 2)


def test_aligned(tmp_path: Path) -> None:
    left, right = file(tmp_path / "l", "eins\nzwei\n"), file(tmp_path / "r", "one\ntwo\n")
    assert read_aligned(left, right).rows == [Pair("eins", "one", 1), Pair("zwei", "two", 2)]
    file(right, "one\ntwo\nthree\n")
    with pytest.raises(DataError, match=r"got 2 in .* and 3 in"):
        read_aligned(left, right)


def test_written_pairs_are_read_again(tmp_path: Path) -> None:
    pairs = [Pair("ä", "b", 1), Pair("c", "d", 2)]
    path = file(tmp_path / "t.tsv", "".join(f"{pair.line()}\n" for pair in pairs))
    assert read_pairs(path).rows == pairs


def test_nothing_on_both_sides(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="none of the 2 lines has something on both sides"):
        read_pairs(file(tmp_path / "t", "a\t\n\tb\n"))


def test_digest_is_of_content_and_order(tmp_path: Path) -> None:
    one = read_pairs(file(tmp_path / "1", "a\tb\nc\td\n"))
    other = read_pairs(file(tmp_path / "2", "c\td\na\tb\n"))
    again = read_pairs(file(tmp_path / "3", "a\tb\n\nc\td\n"))
    assert one.digest() == again.digest() != other.digest()


def test_a_tab_inside_a_sentence_is_a_space(tmp_path: Path) -> None:
    """So that what a run sets aside, a table with tabs, is read again as it was."""
    (tmp_path / "t.csv").write_text('"ein\tHaus",a house\n')
    (pair,) = read_pairs(tmp_path / "t.csv").rows
    assert pair.texts() == ("ein Haus", "a house")
    (tmp_path / "t.tsv").write_text(pair.line() + "\n")
    assert read_pairs(tmp_path / "t.tsv").rows == [pair]
