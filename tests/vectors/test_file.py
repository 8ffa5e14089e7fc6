"""Files of word vectors: the formats, held against Gensim's reader, and all that can be wrong."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from regard.errors import FileError, RegardError
from regard.vectors.words import Words
from tests.vectors.written import NAMES, VALUES, binary

ROWS = "the 0.5 -1 2e-3\ncafé 1 2 3\n我 -0.25 0.125 7\n"

HEADER = "3 3\n"

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


def test_a_first_line_longer_than_a_chunk(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    row = " ".join(["0.125"] * 60_000)
    path.write_text(f"a {row}\nb {row}\n")
    assert Words.load(path).vectors.shape == (2, 60_000)


@pytest.mark.parametrize("encoding", ["no-such", "\udcff", "a\0b", ""])
def test_an_encoding_that_is_none(encoding: str, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a 1 2\n")
    with pytest.raises(RegardError, match="no encoding is called"):
        Words.load(tmp_path / "a.txt", encoding=encoding)
