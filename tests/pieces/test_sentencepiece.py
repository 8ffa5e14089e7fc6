"""SentencePiece files: read without the library, and cut as it cuts."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from regard.errors import FileError
from regard.pieces.sentencepiece import read_pieces, tokenizer_of
from regard.pieces.tokenizer import Tokenizer

TEXT = "the cat sat on the mat . a dog and a cat ran after the ball . "


def field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2, len(content)]) + content


def piece(text: str, score: float, kind: int = 1) -> bytes:
    return field(
        1, field(1, text.encode()) + b"\x15" + struct.pack("<f", score) + bytes([24, kind])
    )


def written(path: Path, *parts: bytes) -> Path:
    path.write_bytes(b"".join(parts))
    return path


def test_a_file_written_by_hand(tmp_path: Path) -> None:
    file = written(
        tmp_path / "m",
        piece("<unk>", 0, 2),
        piece("</s>", 0, 3),
        piece("▁ab", -1.5),
        piece("▁a", -1.0),
        piece("b", -0.25),
        piece("c", -3.0),
    )
    model = read_pieces(file)
    assert model.scores == {"▁ab": -1.5, "▁a": -1.0, "b": -0.25, "c": -3.0}
    tokens = tokenizer_of(model)
    # ▁a + b is −1.25, better than ▁ab.
    assert tokens.pieces(tokens.encode("ab  abc")) == ["▁a", "b", "▁a", "b", "c"]
    assert tokens.decode(tokens.encode("ab abc")) == "ab abc"
    assert tokens.encode("b")[0] == 1, "no piece begins with a mark and nothing: unknown"
    assert tokens.spells
    assert len(Tokenizer.from_text(tokens.to_text())) == 8


def test_a_vocabulary_of_its_own(tmp_path: Path) -> None:
    file = written(tmp_path / "m", piece("▁a", -1.0), piece("▁", -2.0), piece("a", -1.0))
    tokens = tokenizer_of(read_pieces(file), ["a", "z", "▁", "▁a"])
    assert tokens.encode("a") == [7]
    assert tokens.encode("az") == [7, 5], "what is not the file's is taken where nothing else fits"


def test_spaces_as_the_file_has_them(tmp_path: Path) -> None:
    """Without a mark in front of the first word; with pieces that go on into the next word."""
    parts = piece("a", -1.0), piece("▁a", -1.5), piece("a▁a", -2.0)
    no_prefix, across = field(3, bytes([24, 0])), field(2, bytes([22 << 3 & 127 | 128, 1, 0]))
    cut = {
        (): ["▁a", "▁a"],  # −3
        (no_prefix,): ["a", "▁a"],
        (no_prefix, across): ["a▁a"],  # −2 against −2.5
    }
    for more, expected in cut.items():
        tokens = tokenizer_of(read_pieces(written(tmp_path / "m", *parts, *more)))
        assert tokens.pieces(tokens.encode("a a")) == expected
        assert tokens.decode(tokens.encode("a a")) == "a a"
    behind = field(2, bytes([24 << 3 & 127 | 128, 1, 1]))
    with pytest.raises(FileError, match=r"mark of a space behind words \(treat_whitespace_as_suff"):
        read_pieces(written(tmp_path / "m", *parts, behind))


@pytest.mark.parametrize("text", ["½ cat", "the  dog.", "CAT ran", "naïve ﬁsh"])
@pytest.mark.parametrize("changes", [{}, {"add_dummy_prefix": False, "split_by_whitespace": False}])
def test_the_library_cuts_the_same(text: str, changes: dict[str, bool], tmp_path: Path) -> None:
    library = pytest.importorskip("sentencepiece")
    (tmp_path / "text").write_text("\n".join([TEXT] * 50))
    library.SentencePieceTrainer.train(
        input=str(tmp_path / "text"),
        model_prefix=str(tmp_path / "m"),
        vocab_size=28,
        hard_vocab_limit=False,
        minloglevel=9,
        num_threads=1,
        **changes,
    )
    theirs = library.SentencePieceProcessor(str(tmp_path / "m.model"))
    tokens = tokenizer_of(read_pieces(tmp_path / "m.model"))
    expected = [
        "<unk>" if theirs.piece_to_id(p) == theirs.unk_id() else p
        for p in theirs.encode(text, out_type=str)
    ]
    assert tokens.pieces(tokens.encode(text)) == expected


def test_what_is_no_such_file_is_told(tmp_path: Path) -> None:
    kind = field(2, bytes([24, 2]))
    for content, text in (
        (b"hello, world", "is not a SentencePiece model"),
        (b"", "it has no pieces"),
        (piece("a", 0)[:-3], "is not a SentencePiece model"),
        (piece("a", 0) + kind, "is a SentencePiece model of kind 2; unigram models"),
    ):
        with pytest.raises(FileError, match=text):
            read_pieces(written(tmp_path / "m", content))
    with pytest.raises(FileError, match=r"nowhere': No such file"):
        read_pieces(tmp_path / "nowhere")
