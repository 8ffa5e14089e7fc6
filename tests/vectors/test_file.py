"""Files of word vectors: the formats, held against Gensim's reader, and all that can be wrong."""

from __future__ import annotations

import gzip
import math
import struct
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from regard.errors import FileError, RegardError
from regard.vectors import rows as vectorrows
from regard.vectors import save as vectorsave
from regard.vectors.words import Words

ROWS = "the 0.5 -1 2e-3\ncafé 1 2 3\n我 -0.25 0.125 7\n"
HEADER = "3 3\n"
VALUES = np.array([[0.5, -1, 2e-3], [1, 2, 3], [-0.25, 0.125, 7]], dtype=np.float32)
NAMES = ["the", "café", "我"]


def binary(names: list[str], values: np.ndarray, newline: bytes = b"") -> bytes:
    rows = (
        n.encode() + b" " + v.astype("<f4").tobytes() for n, v in zip(names, values, strict=True)
    )
    return f"{len(names)} {values.shape[1]}\n".encode() + b"".join(row + newline for row in rows)


FILES = {
    "glove": ROWS.encode(),
    "word2vec": (HEADER + ROWS).encode(),
    "trailing spaces": (HEADER + ROWS.replace("\n", " \n")).encode(),
    "windows": (HEADER + ROWS).replace("\n", "\r\n").encode(),
    "no last newline": (HEADER + ROWS).rstrip().encode(),
    "byte order mark": b"\xef\xbb\xbf" + (HEADER + ROWS).encode(),
    "tabs": (HEADER + ROWS.replace(" ", "\t")).encode(),
    "binary": binary(NAMES, VALUES),
    "binary by word2vec.c": binary(NAMES, VALUES, b"\n"),
}


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("name", FILES)
def test_formats_are_recognised(tmp_path: Path, name: str, packed: bool) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(gzip.compress(FILES[name]) if packed else FILES[name])
    words = Words.load(path)
    assert words.words == NAMES
    assert np.array_equal(words.vectors, VALUES)
    kind = "glove" if name == "glove" else "word2vec-binary" if "binary" in name else "word2vec"
    assert words.format == kind


# Gensim forgets to close a file without a header.
@pytest.mark.filterwarnings("ignore:unclosed file:ResourceWarning")
@pytest.mark.parametrize("format", ["glove", "word2vec", "fasttext", "word2vec-binary"])
def test_the_same_as_gensim(tmp_path: Path, format: str) -> None:
    from gensim.models import KeyedVectors

    rng = np.random.default_rng(5)
    names = [f"w{i}" for i in range(997)]
    values = rng.standard_normal((997, 13)).astype(np.float32)
    text = "".join(
        f"{n} {' '.join(f'{x:.5f}' for x in v)}\n" for n, v in zip(names, values, strict=True)
    )
    path = tmp_path / "vectors"
    if format == "word2vec-binary":
        path.write_bytes(binary(names, values, b"\n"))
    else:
        path.write_text(text if format == "glove" else "997 13\n" + text)
    theirs = KeyedVectors.load_word2vec_format(
        str(path), binary=format == "word2vec-binary", no_header=format == "glove"
    )
    ours = Words.load(path, format)
    assert ours.words == theirs.index_to_key
    assert np.array_equal(ours.vectors, theirs.vectors)
    for (word, cosine), (their_word, their_cosine) in zip(
        ours.nearest("w5", 5), theirs.most_similar("w5", topn=5), strict=True
    ):
        assert word == their_word
        assert cosine == pytest.approx(their_cosine, abs=1e-6)


@pytest.mark.parametrize("suffix", [".txt", ".vec", ".bin", ".vec.gz", ".bin.gz"])
def test_gensim_reads_what_is_saved(tmp_path: Path, suffix: str) -> None:
    from gensim.models import KeyedVectors

    path = tmp_path / f"vectors{suffix}"
    Words(NAMES, VALUES).save(path)
    theirs = KeyedVectors.load_word2vec_format(str(path), binary=".bin" in suffix)
    assert theirs.index_to_key == NAMES
    assert np.array_equal(theirs.vectors, VALUES)


FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)
WORD = st.text(st.characters(exclude_categories=["Cs", "Zs", "Cc"]), min_size=1, max_size=9)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data(), suffix=st.sampled_from([".vec", ".vec.gz", ".bin", ".bin.gz"]))
def test_what_is_saved_is_loaded_exactly(tmp_path: Path, data: st.DataObject, suffix: str) -> None:
    names = data.draw(st.lists(WORD, min_size=1, max_size=7, unique=True))
    shape = (len(names), data.draw(st.integers(1, 5)))
    values = data.draw(arrays.arrays(np.float32, shape, elements=FLOATS))
    path = tmp_path / f"vectors{suffix}"
    Words(names, values).save(path)
    again = Words.load(path, "word2vec-binary" if ".bin" in suffix else "word2vec")
    assert again.words == names
    assert np.array_equal(again.vectors, values)


@pytest.mark.parametrize("word", ["two words", "", ". .", "a\tb", "\u00a0", "\u0085"])
def test_odd_words_of_real_files_survive_as_text(tmp_path: Path, word: str) -> None:
    path = tmp_path / "odd.vec"
    Words(["plain", word], [[1, 2], [3, 4]]).save(path)
    assert Words.load(path)[word].tolist() == [3, 4]


@pytest.mark.parametrize(
    ("word", "name", "reason"),
    [
        ("line\nend", "x.vec", "a line end"),
        ("iphone 4", "x.vec", "a space and then a number"),
        ("end ", "x.vec", "ends in white space"),
        ("two words", "x.bin", "save as text"),
        ("\udc80", "x.vec", "not Unicode"),
    ],
)
def test_words_that_a_file_cannot_hold(tmp_path: Path, word: str, name: str, reason: str) -> None:
    with pytest.raises(RegardError, match=reason):
        Words([word], [[1, 2]]).save(tmp_path / name)
    assert list(tmp_path.iterdir()) == []


def test_a_name_without_a_known_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"must end in \.txt or \.vec"):
        Words(["a"], [[1]]).save(tmp_path / "vectors.npy")


def test_a_save_that_is_stopped_leaves_the_old_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.vec"
    path.write_text("old")

    def stop(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(vectorsave, "text_blocks", stop)
    with pytest.raises(KeyboardInterrupt):
        Words(["a"], [[1]]).save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


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


def test_a_file_in_another_encoding_can_be_named(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes("caf\xe9 1 2\n".encode("latin-1"))
    assert "café" in Words.load(path, encoding="latin-1")
    with pytest.raises(RegardError, match="no encoding is called 'klingon'"):
        Words.load(path, encoding="klingon")


@pytest.mark.parametrize(
    ("format", "content", "message"),
    [
        ("word2vec", ROWS.encode(), "GloVe files have none"),
        ("word2vec-binary", (HEADER + ROWS).encode(), "looks word2vec"),
        ("word2vec", binary(NAMES, VALUES), "looks word2vec-binary"),
        ("glove", (HEADER + ROWS).encode(), "line 2: 1 numbers expected, got more"),
        ("word2vek", b"a 1", "did you mean 'word2vec'"),
    ],
)
def test_a_wrong_format_is_refused(
    tmp_path: Path, format: str, content: bytes, message: str
) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(content)
    with pytest.raises(RegardError, match=message):
        Words.load(path, format)


@pytest.mark.parametrize("raw", [b"1.50", b"[[?]"])
def test_binary_numbers_that_happen_to_be_printable(tmp_path: Path, raw: bytes) -> None:
    """``a 1.50`` is a row of text as well: text, unless binary is asked for."""
    path = tmp_path / "vectors"
    path.write_bytes(b"1 1\na " + raw)
    expected = struct.unpack("<f", raw)[0]
    assert Words.load(path, "word2vec-binary")["a"].tolist() == [expected]
    assert Words.load(path)["a"].tolist() == [1.5 if raw == b"1.50" else expected]


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read .*No such file"):
        Words.load(tmp_path / "none.vec")
    with pytest.raises(FileError, match=r"cannot read .*directory"):
        Words.load(tmp_path)


@pytest.mark.parametrize("kept", [0.5, 0.99])
def test_gzip_cut_in_the_middle(tmp_path: Path, kept: float) -> None:
    lines = "".join(f"w{i} {i} {i * i}\n" for i in range(5000))
    packed = gzip.compress(("5000 2\n" + lines).encode())
    path = tmp_path / "x.vec.gz"
    path.write_bytes(packed[: int(len(packed) * kept)])
    with pytest.raises(FileError, match=r"gzip data .* cut or damaged"):
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


def test_a_first_line_longer_than_a_chunk(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    row = " ".join(["0.125"] * 60_000)
    path.write_text(f"a {row}\nb {row}\n")
    assert Words.load(path).vectors.shape == (2, 60_000)


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


@pytest.mark.parametrize("encoding", ["no-such", "\udcff", "a\0b", ""])
def test_an_encoding_that_is_none(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a 1 2\n")
    with pytest.raises(RegardError, match="no encoding is called"):
        Words.load(tmp_path / "a.txt", encoding=encoding)
