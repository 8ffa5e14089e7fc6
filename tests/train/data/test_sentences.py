"""Text: columns, empty and repeated lines, a stream in its order, files of the user's own."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from regard.errors import ConfigError, DataError
from regard.train.data.config import TextConfig
from regard.train.data.sentences import TextLine, read_sentences
from regard.train.tasks.lm import Language


def test_lines_columns_and_gzip(tmp_path: Path) -> None:
    (tmp_path / "t.gz").write_bytes(gzip.compress(b"one \tx\n\ntwo  three\tx\none\ty\n"))
    read = read_sentences(tmp_path / "t.gz", 1)
    assert read.rows == [TextLine("one", 1), TextLine("two three", 3), TextLine("one", 4)]
    assert (read.empty, read.repeated) == ([2], 0)
    once = read_sentences(tmp_path / "t.gz", 1, unique=True)
    assert once.rows == [TextLine("one", 1), TextLine("two three", 3)]
    assert once.repeated == 1
    assert read.digest() != once.digest()


def test_a_column_by_its_name(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text('stars,review\n5,"good, very"\n1,\n')
    read = read_sentences(tmp_path / "t.csv", "review")
    assert (read.rows, read.empty) == ([TextLine("good, very", 2)], [3])
    path = str(tmp_path / "t.csv")
    found = Language().read(TextConfig(text=path, valid=path, columns="text=stars"))
    assert [line.text for line in found.train] == [line.text for line in found.valid] == ["5", "1"]


def test_columns_are_said_in_one_way() -> None:
    with pytest.raises(ConfigError, match="column and columns are two ways to say the same"):
        TextConfig(text="t", column=1, columns="text=a")
    with pytest.raises(ConfigError, match="columns are written text=NAME; got 'a'"):
        TextConfig(text="t", columns="a")


@pytest.mark.parametrize(
    ("content", "column", "text"),
    [
        (b"", 0, "is empty"),
        (b" \n\n", 0, "none of the 2 lines of 'FILE' has text"),
        (
            b"a\tb\nc\n",
            2,
            "line 2: expected 2 columns as in the first line, with a tab between columns",
        ),
        (b"\xff\xfea\0", 0, "is UTF-16"),
        (b"a\0b", 0, "binary file"),
        (b"gr\xfcn", 0, "not UTF-8: line 1, byte 3"),
    ],
)
def test_bad_files(content: bytes, column: int, text: str, tmp_path: Path) -> None:
    path = tmp_path / "t"
    path.write_bytes(content)
    with pytest.raises(DataError) as caught:
        read_sentences(path, column)
    assert text.replace("FILE", str(path)) in str(caught.value)


def config(tmp_path: Path, text: str, **settings: object) -> TextConfig:
    path = tmp_path / "text"
    path.write_text(text, encoding="utf-8")
    return TextConfig(text=str(path), **settings)  # type: ignore[arg-type]


def test_a_stream_is_divided_in_its_order(tmp_path: Path) -> None:
    text = "".join(f"{i}\n" for i in range(20))
    read = Language().read(config(tmp_path, text, continuous=True, valid_share=0.1, test_share=0.2))
    assert [line.text for line in read.train] == [str(i) for i in range(14)]
    assert [line.text for line in read.valid] == ["14", "15"]
    assert [line.text for line in read.test] == ["16", "17", "18", "19"]


def test_own_files_are_kept_and_overlap_is_counted(tmp_path: Path) -> None:
    (tmp_path / "valid").write_text("B\nx\n")
    read = Language().read(config(tmp_path, "a\nb\nc\n", valid=str(tmp_path / "valid")))
    assert [line.text for line in read.train] == ["a", "b", "c"]
    assert [line.text for line in read.valid] == ["B", "x"]
    assert not read.test
    assert read.overlap == 1  # b is B but for its case
