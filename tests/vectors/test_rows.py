"""Rows of vectors: what is wrong in one is said, and nothing is held twice."""

from __future__ import annotations

import gzip
import math
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from regard.errors import FileError
from regard.vectors import rows as vectorrows
from regard.vectors.words import Words
from tests.vectors.written import NAMES, VALUES, binary


def test_of_a_repeated_word_the_first_row_counts(tmp_path: Path) -> None:
    path = tmp_path / "x.vec"
    path.write_text("4 1\na 1\nb 2\na 3\na 4\n")
    words = Words.load(path)
    assert words.words == ["a", "b"]
    assert words["a"].tolist() == [1]
    assert words.repeated == ("a", "a")


WRONG = {
    "nan": (b"2 2\na 1 2\nb nan 1\n", "line 3: the vector of 'b' holds nan"),
    "infinity": (b"a 1 2\nb 1 1e99\n", "line 2: the vector of 'b' holds inf"),
    "nan in binary": (
        binary(["a", "b"], np.array([[1, 2], [3, math.nan]])),
        "row 2: the vector of 'b' holds nan",
    ),
    "short row": (b"a 1 2\nb 1\n", "line 2: 2 numbers expected after the word 'b', got 1"),
    "long row": (b"a 1 2\nb 1 2 3\n", "line 2: 2 numbers expected, got more: 'b 1 2 3'"),
    "not a number": (b"a 1 2\nb 1 x\n", "line 2: 2 numbers expected after .* got 'x'"),
    "python number": (b"a 1 2\nb 1 1_0\n", "got '1_0'"),
    "prose": (b"Once upon a time\n", "is not a file of word vectors: .* got 'Once upon a time'"),
    "empty": (b"", "is empty"),
    "blank": (b"\n \n", "is empty"),
    "latin-1": ("caf\xe9 1 2\n".encode("latin-1"), r"line 1: not UTF-8"),
    "latin-1 later": (b"2 2\na 1 2\ncaf\xe9 1 2\n", r"line 3: b'caf\\xe9' is not UTF-8"),
    "utf-16": ("a 1 2\n".encode("utf-16"), "not UTF-8"),
    "zip": (b"PK\x03\x04 more", "a zip archive; unpack"),
    "fastText model": (b"\xba\x16\x4f\x2f", "a fastText model; load the .vec"),
    "no width": (b"3 0\na\n", "width of 1 to"),
    "cut": (b"4 2\na 1.5 2\nb 1.5 2\nc 1.5 2\n", "promises 4 rows of 2 numbers, .* holds 3 lines"),
    "cut in a row": (b"3 2\na 1 2\nb 1 2\nc 1", "line 4: 2 numbers expected .*got 1; .* cut"),
    "more than promised": (b"1 2\na 1 2\nb 1 2\n", "holds 2 rows; the header is wrong"),
    "cut binary": (binary(NAMES, VALUES)[:-3], "promises 3 rows of 3 .*; the file is cut"),
    "long binary": (binary(NAMES, VALUES) + b"more", "promises 3 rows of 3, but the file goes on"),
    "binary without words": (b"9 2\n" + bytes(40_000), "row 1: no word ends in"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_with_a_file_is_said(tmp_path: Path, name: str) -> None:
    content, message = WRONG[name]
    path = tmp_path / "vectors"
    path.write_bytes(content)
    with pytest.raises(FileError, match=message):
        Words.load(path)


@pytest.mark.parametrize("first", [b"the 0.5 1\n", b"the " + struct.pack("<2f", 0.5, 1)])
def test_a_promise_beyond_the_file_is_refused_before_anything_is_reserved(
    tmp_path: Path, first: bytes
) -> None:
    """Three million rows of 300 numbers, 3.6 GB, promised by a file of a few bytes."""
    path = tmp_path / "x.bin"
    path.write_bytes(b"3000000 300\n" + first)
    tracemalloc.start()
    with pytest.raises(FileError, match=r"promises 3,000,000 rows of 300 .* the file is cut"):
        Words.load(path)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 5e6


def test_a_promise_in_a_packed_file_is_not_reserved_either(tmp_path: Path) -> None:
    path = tmp_path / "x.vec.gz"
    path.write_bytes(gzip.compress(b"3000000000 2\na 1 2\n"))
    with pytest.raises(FileError, match="promises 3,000,000,000 rows"):
        Words.load(path)


def test_a_line_that_never_ends(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vectorrows, "LONGEST_LINE", 1 << 16)
    path = tmp_path / "x.txt"
    path.write_bytes(b"a 1\nb " + b"1" * (1 << 21))
    with pytest.raises(FileError, match="no line end in 65,536 bytes"):
        Words.load(path)


@pytest.mark.parametrize("format", ["glove", "word2vec-binary"])
def test_loading_holds_the_vectors_once(tmp_path: Path, format: str) -> None:
    """40 MB of vectors, or a file of as many bytes: the peak is one copy and a little."""
    rows, width = (16_000, 300) if format == "glove" else (33_000, 300)
    row = np.random.default_rng(0).standard_normal(width).astype(np.float32)
    path = tmp_path / "x"
    if format == "glove":
        text = " ".join(f"{x:.5f}" for x in row)
        path.write_text("".join(f"w{i} {text}\n" for i in range(rows)))
    else:
        raw = row.tobytes()
        path.write_bytes(b"".join([f"{rows} {width}\n".encode(),
                                   *(f"w{i} ".encode() + raw for i in range(rows))]))  # fmt: skip
    assert path.stat().st_size > 38e6
    calls: list[tuple[int, int]] = []
    tracemalloc.start()
    words = Words.load(path, progress=lambda done, total: calls.append((done, total)))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(words) == rows
    assert peak < 1.5 * words.vectors.nbytes
    assert calls == sorted(calls)
    assert calls[-1] == (path.stat().st_size, path.stat().st_size)
