"""Lines: gzip, encodings and everything that is not text."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from regard.errors import DataError, FileError
from regard.train.data.lines import one_cell, read_lines


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def test_plain_and_gzip_whatever_the_name(tmp_path: Path) -> None:
    text = b"ein\nzwei\n"
    assert read_lines(write(tmp_path / "a", text)) == ["ein", "zwei"]
    assert read_lines(write(tmp_path / "b.txt", gzip.compress(text))) == ["ein", "zwei"]


def test_only_newlines_end_a_line(tmp_path: Path) -> None:
    text = "a\u2028b\x0cc\r\nd\x85e\n\nf".encode()
    assert read_lines(write(tmp_path / "a", text)) == ["a\u2028b\x0cc", "d\x85e", "", "f"]


def test_byte_order_mark_is_not_text(tmp_path: Path) -> None:
    assert read_lines(write(tmp_path / "a", b"\xef\xbb\xbfeins")) == ["eins"]


def test_stdin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys, "stdin", SimpleNamespace(buffer=io.BufferedReader(io.BytesIO(b"a\nb\n")))
    )
    assert read_lines("-") == ["a", "b"]


def test_bad_bytes_are_found(tmp_path: Path) -> None:
    path = write(tmp_path / "a", "gut\ngr\u00fcn\n".encode("latin-1"))
    with pytest.raises(DataError, match="line 2, byte 3 of the line is 0xfc"):
        read_lines(path)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "is empty"),
        (b"ab\0c", "binary file.*byte 3"),
        ("wort\n".encode("utf-16"), "UTF-16"),
    ],
)
def test_not_text(data: bytes, text: str, tmp_path: Path) -> None:
    with pytest.raises(DataError, match=text):
        read_lines(write(tmp_path / "a", data))


def test_gzip_cut_in_half(tmp_path: Path) -> None:
    whole = gzip.compress(b"eins\nzwei\n" * 50)
    with pytest.raises(FileError, match="cut or damaged"):
        read_lines(write(tmp_path / "a.gz", whole[: len(whole) // 2]))


def test_missing_and_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        read_lines(tmp_path / "nothing")
    with pytest.raises(FileError, match="Is a directory"):
        read_lines(tmp_path)


def test_a_sentence_in_one_cell() -> None:
    assert one_cell(" a\tb\rc ") == "a b c"
