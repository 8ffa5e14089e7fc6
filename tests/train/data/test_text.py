"""Text: columns, empty and repeated lines, parts that share no sentence, unknown words."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ConfigError, DataError
from regard.pieces.tokenizer import UNK, Tokenizer
from regard.train.data.config import TextConfig
from regard.train.data.text import TextLine, encode, make_corpus, read_sentences, read_text


def test_lines_columns_and_gzip(tmp_path: Path) -> None:
    (tmp_path / "t.gz").write_bytes(gzip.compress(b"one \tx\n\ntwo  three\tx\none\ty\n"))
    read = read_sentences(tmp_path / "t.gz", 1)
    assert read.lines == [TextLine("one", 1), TextLine("two three", 3), TextLine("one", 4)]
    assert (read.empty, read.repeated) == ([2], 0)
    once = read_sentences(tmp_path / "t.gz", 1, unique=True)
    assert once.lines == [TextLine("one", 1), TextLine("two three", 3)]
    assert once.repeated == 1
    assert read.digest() != once.digest()


@pytest.mark.parametrize(
    ("content", "column", "text"),
    [
        (b"", 0, "is empty"),
        (b" \n\n", 0, "none of the 2 lines of 'FILE' has text"),
        (b"a\tb\nc\n", 2, "line 2: column 2 is wanted, with a tab between columns; got 1"),
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


@given(st.lists(st.sampled_from("abcdefgh"), min_size=60, max_size=60))
def test_no_sentence_is_in_two_parts(words: list[str]) -> None:
    from regard.train.data.text import _by_sentence

    lines = [TextLine(word, i) for i, word in enumerate([*words, *map(str, range(400))], 1)]
    train, valid, test = _by_sentence(lines, 0.1, 0.1, 0)
    assert sorted([*train, *valid, *test], key=lambda line: line.number) == lines
    sets = [{line.text for line in part} for part in (train, valid, test)]
    assert not sets[0] & sets[1]
    assert not sets[0] & sets[2]
    assert not sets[1] & sets[2]


def config(tmp_path: Path, text: str, **settings: object) -> TextConfig:
    path = tmp_path / "text"
    path.write_text(text, encoding="utf-8")
    return TextConfig(text=str(path), **settings)  # type: ignore[arg-type]


def test_a_stream_is_divided_in_its_order(tmp_path: Path) -> None:
    text = "".join(f"{i}\n" for i in range(20))
    read = read_text(config(tmp_path, text, continuous=True, valid_share=0.1, test_share=0.2))
    assert [line.text for line in read.train] == [str(i) for i in range(14)]
    assert [line.text for line in read.valid] == ["14", "15"]
    assert [line.text for line in read.test] == ["16", "17", "18", "19"]


def test_own_files_are_kept_and_overlap_is_counted(tmp_path: Path) -> None:
    (tmp_path / "valid").write_text("B\nx\n")
    read = read_text(config(tmp_path, "a\nb\nc\n", valid=str(tmp_path / "valid")))
    assert [line.text for line in read.train] == ["a", "b", "c"]
    assert [line.text for line in read.valid] == ["B", "x"]
    assert not read.test
    assert read.overlap == 1  # b is B but for its case


def test_unknown_and_special_words_are_unk(tmp_path: Path) -> None:
    tokens = Tokenizer.train(["a b"] * 2, 10, "space")
    assert encode(["a <unk> zz b </s> <pad>"], tokens) == [[4, UNK, UNK, 5, UNK, UNK]]


def test_long_lines_are_left_out_and_counted(tmp_path: Path) -> None:
    (tmp_path / "valid").write_text("a a a a\n")
    chosen = config(
        tmp_path, "a\na a a\na b\n", valid=str(tmp_path / "valid"), level="space", max_length=2
    )
    text = read_text(chosen)
    tokens = Tokenizer.train(["a a"], 10, "space")
    corpus = make_corpus(text, tokens, chosen)
    assert corpus.train == [[4], [4, UNK]]
    assert corpus.long == [2]
    assert corpus.valid == [[4, 4, 4, 4]], "nothing is left out of what is validated on"
    assert corpus.unknown == 0.0


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "text is missing"),
        ({"text": "a", "unique": True, "continuous": True}, "unique is for sentences"),
        ({"text": "a", "chunk": 0}, "chunk must be at least 1, got 0"),
        ({"text": "a", "column": -1}, "column must be at least 0"),
        ({"text": "a", "vocabulary": 4}, "vocabulary must be at least 5, or 0, got 4"),
        ({"text": "a", "test_share": 0.7}, "test_share must be from 0 to under 0.5, got 0.7"),
    ],
)
def test_settings_against_each_other(settings: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        TextConfig(**settings)  # type: ignore[arg-type]
