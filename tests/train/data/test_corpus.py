"""Corpus: unknown words, what is too long is left out and counted, labels stay in step."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import DataError, FileError
from regard.pieces.tokenizer import UNK, Tokenizer
from regard.train.data.config import PartsConfig
from regard.train.data.corpus import encode, in_tokens, notes, numbered, read_tokenizer, summary
from regard.train.data.examples import Dataset
from regard.train.data.labelled import Labelled
from regard.train.data.pairs import Pair
from regard.train.data.sentences import TextLine

TOKENS = Tokenizer.train(["a b"] * 2, 10, "space")


def dataset(train: list[Labelled]) -> Dataset[Labelled]:
    return Dataset(train, [Labelled("1", "a a a a", 1)], [], [5, 6], 2, "", 1)


def test_a_tokenizer_of_the_users_own(tmp_path: Path) -> None:
    own = Tokenizer.train(["a b c d e"] * 2, 20, "word")
    own.save(tmp_path / "own.json")
    assert read_tokenizer(str(tmp_path / "own.json")).to_text() == own.to_text()
    (tmp_path / "other.json").write_text(own.to_text().replace("<s>", "[CLS]"))
    with pytest.raises(FileError, match=r"its first tokens must be <pad> <unk> <s> </s>; got"):
        read_tokenizer(str(tmp_path / "other.json"))
    (tmp_path / "own.spm").write_bytes(b"no model")
    with pytest.raises(FileError, match="is not a SentencePiece model"):
        read_tokenizer(str(tmp_path / "own.spm"))


def test_unknown_and_special_words_are_unk() -> None:
    assert encode(["a <unk> zz b </s> <pad>"], TOKENS) == [[4, UNK, UNK, 5, UNK, UNK]]


def test_long_ones_are_left_out_and_labels_stay_with_their_sentences() -> None:
    data = dataset([Labelled("0", "a", 1), Labelled("1", "a a a", 2), Labelled("1", "b z", 3)])
    corpus = in_tokens(data, TOKENS, 2)
    assert corpus.train == [([4],), ([5, UNK],)]
    assert [row.label for row in corpus.examples] == ["0", "1"]
    assert corpus.long == [2]
    assert corpus.valid == [([4, 4, 4, 4],)], "nothing is left out of what is validated on"
    assert corpus.unknown == 0.0
    with pytest.raises(DataError, match="all 3 training reviews are longer than 0 tokens"):
        in_tokens(data, TOKENS, 0, "reviews")
    assert len(in_tokens(data, TOKENS, None).train) == 3


def test_either_side_of_a_pair_may_be_too_long() -> None:
    pairs = [Pair("a", "a a a", 1), Pair("a a a", "b", 2), Pair("a", "b", 3)]
    corpus = in_tokens(Dataset(pairs, pairs[:1], [], [], 0, "", 0), TOKENS, 2)
    assert corpus.train == [([4], [5])]
    assert corpus.long == [1, 2]


def test_nothing_to_validate_on() -> None:
    with pytest.raises(DataError, match="nothing to validate on"):
        in_tokens(Dataset([TextLine("a")], [], [], [], 0, "", 0), TOKENS, 9)


def test_figures_and_notes_say_the_same() -> None:
    data = dataset([Labelled("0", "a", 1), Labelled("1", "a a a", 2)])
    config = PartsConfig(level="space", max_length=2)
    corpus = in_tokens(data, TOKENS, 2)
    figures = summary(corpus, config)
    assert figures["long_lines"] == [2]
    assert (figures["train"], figures["empty"], figures["repeated"]) == (1, 2, 2)
    assert (figures["target_tokens"], figures["vocabulary"]) == (2, 6)
    verbs = ("shares", "share")
    said = list(notes(corpus, config, what="rows", blank="bare", aside="!", overlap=verbs))
    assert said == [
        "1 row to train on, 1 to validate, 0 to test; vocabulary 6 (space)",
        "the text allows no more than these 6 tokens",
        "left out: 2 lines (5, 6) bare",
        "left out: 2 lines that repeat an earlier one",
        "left out: 1 line (2) of more than 2 tokens!",
        "1 training row shares the validation or test files",
    ]
    assert numbered(list(range(1, 8))) == "7 lines (1, 2, 3, 4, 5, …)"
