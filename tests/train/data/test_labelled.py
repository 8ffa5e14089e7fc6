"""Labelled sentences: tabs and spaces, labels in order, what does not fit is said."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from regard.errors import DataError
from regard.train.data.config import LabelledConfig
from regard.train.data.labelled import Labelled, label_order, labels_of, read_labelled
from regard.train.tasks.classify import Classify


def test_spaces_tabs_and_gzip(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("1 good film\n0  bad\tone\n\n0\n10 x\n")
    read = read_labelled(tmp_path / "a")
    assert read.rows[0] == Labelled("1", "good film", 1)
    assert read.empty == [3, 4]
    assert labels_of(read.rows) == ["0", "1", "10"], "numbers in their order"
    (tmp_path / "b").write_bytes(gzip.compress(b"very good\ta film\nbad\tit  was\n"))
    read = read_labelled(tmp_path / "b")
    assert read.rows == [Labelled("very good", "a film", 1), Labelled("bad", "it was", 2)]
    assert labels_of(read.rows) == ["bad", "very good"]


def test_columns_by_name_and_commas(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text("text\tby\tstars\ngood film\tme\t5\n\tme\t1\nbad\tme\t\n")
    read = read_labelled(tmp_path / "t.tsv", ["stars", "text"])
    assert (read.rows, read.empty) == ([Labelled("5", "good film", 2)], [3, 4])
    (tmp_path / "t.csv").write_text('5,"good, very"\n1,bad\n')
    read = read_labelled(tmp_path / "t.csv")
    assert read.rows == [Labelled("5", "good, very", 1), Labelled("1", "bad", 2)]


def test_a_column_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"no column 'star'; its first line names stars, text"):
        Classify().read(config(tmp_path, "stars\ttext\n1\ta\n", columns="label=star,text=text"))


def config(tmp_path: Path, text: str, **settings: object) -> LabelledConfig:
    (tmp_path / "data").write_text(text)
    return LabelledConfig(file=str(tmp_path / "data"), **settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "is empty"),
        ("a\nb\n", "none of the 2 lines"),
        ("1 a\n1 b\n", "has one label, '1': there is nothing to tell apart"),
        ("".join(f"word{i} x\n" for i in range(1001)), "has 1,001 different labels, such as"),
        ("0 a\n1 b\n", "2 lines are too few for a share of 0.01"),
    ],
)
def test_bad_files(text: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(DataError) as caught:
        Classify().read(config(tmp_path, text))
    assert message in str(caught.value)


def test_a_label_that_training_does_not_have(tmp_path: Path) -> None:
    (tmp_path / "valid").write_text("0 a\n2 b\n")
    with pytest.raises(DataError, match=r"line 2: the label '2' does not occur in .* has 0, 1"):
        Classify().read(config(tmp_path, "0 a\n1 b\n", valid=str(tmp_path / "valid")))


def test_a_label_is_one_cell_and_a_long_number_is_a_word(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('"good\tx",a film\n')
    (row,) = read_labelled(tmp_path / "t.csv").rows
    assert row.label == "good x"
    assert label_order("7" * 5000) > label_order("12"), "words come after numbers"
    assert label_order("12") > label_order("9")
