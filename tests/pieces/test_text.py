"""A text as a model reads it: what is shown of its tokens, where they stand, and their words."""

from __future__ import annotations

import unicodedata
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer as Encoder
from tokenizers import models, pre_tokenizers

from regard.errors import DataError, ModelError
from regard.pieces.pieces import Pieces
from regard.pieces.text import (
    check_length,
    learned_pieces,
    load_tokenizer,
    read_text,
    spaced_pieces,
    word_numbers,
    written_pieces,
)
from regard.pieces.tokenizer import EOS, UNK, Tokenizer
from regard.text import Word
from tests.inside.tinytext import STORY, tokenizer
from tests.models.bert.tinybert import save_tokenizer

BYTES = tokenizer()
LEARNED = Tokenizer.train(["der Hund (und) die Katze, didn't 3.14"] * 3, 60)
WORDS = Tokenizer.train(["the cat sat on the mat"] * 3, 20, "word")
SPACED = Tokenizer.train(["the cat sat on the mat"] * 3, 20, "space")
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda t: t.strip())


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Encoder:
    folder = tmp_path_factory.mktemp("pieces")
    save_tokenizer(folder)
    encoder: Encoder = load_tokenizer(folder)
    return encoder


def words_of(read: Pieces) -> list[str]:
    return [word.text for word in read.words]


def marked(read: Pieces, which: list[bool]) -> list[str]:
    return [label for label, own in zip(read.labels, which, strict=True) if own]


def test_word_pieces(pieces: Encoder) -> None:
    """Though the file asks for texts cut to 4 tokens and filled to 16."""
    text = "The unbelievable animal didn't  cross."
    read = read_text(pieces, text)
    assert read.labels == [
        *("[CLS]", "the", "un", "##bel", "##iev", "##able", "animal", "didn", "'", "t", "cross"),
        *(".", "[SEP]"),
    ]
    assert words_of(read) == [
        *("[CLS]", "The", "unbelievable", "animal", "didn't", "cross", ".", "[SEP]")
    ]
    assert read.words[2] == Word("unbelievable", 2, 6)
    assert marked(read, read.special) == ["[CLS]", "[SEP]"]
    assert marked(read, read.separators) == ["'", ".", "[SEP]"]
    assert marked(read, read.sinks) == ["[CLS]", "[SEP]"]
    assert not any(read.unknown)
    assert read.places[0] == read.places[-1] == ()
    assert text[slice(*read.places[3])] == "bel"
    assert read.ids[:3] == [2, 4, 20]
    assert read.text == text


def test_what_is_unknown_shows_the_users_own_text(pieces: Encoder) -> None:
    read = read_text(pieces, "The Zebra was 猫 😀😀")
    assert read.labels == ["[CLS]", "the", "Zebra", "was", "猫", "😀😀", "[SEP]"]
    assert marked(read, read.unknown) == ["Zebra", "猫", "😀😀"]
    assert marked(read, read.silent) == ["[CLS]", "Zebra", "猫", "😀😀", "[SEP]"]
    assert read.ids[2] == read.ids[4] == 1


def test_a_vocabulary_of_sentencepiece_has_an_unknown_token_too() -> None:
    made = Encoder(models.Unigram([("<unk>", 0.0), ("▁a", -1.0), ("▁cat", -1.0)], unk_id=0))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    read = read_text(made, "a cat 猫 a")
    assert read.labels == ["a", "cat", "猫", "a"]
    assert [word.text for word, own in zip(read.words, read.unknown, strict=True) if own] == ["猫"]


def test_bytes_of_one_sign_are_one_word() -> None:
    read = read_text(BYTES, "The street 🙂 é\n\nwas")
    words = ["The", "street", "🙂", "é", r"\n", r"\n", "was"]
    assert words_of(read) == words
    smile = read.words[2]
    assert read.labels[smile.start : smile.stop] == ["␣", *["🙂"] * 4], "its blank belongs to it"
    assert not any(read.special)
    assert read.by_word(read.separators) == [w == r"\n" for w in words]


def test_blanks_that_are_more_than_one_stand_alone() -> None:
    read = read_text(BYTES, "if  x:\n    y")
    assert words_of(read) == ["if", "␣", "x", ":", r"\n", *["␣"] * 3, "y"]


def test_a_special_token_typed_by_the_user_is_special() -> None:
    read = read_text(BYTES, "The</s>street")
    assert marked(read, read.special) == ["</s>"]


def check(read: Pieces, text: str) -> None:
    """What holds for every reading of every text."""
    covered = [i for word in read.words for i in range(word.start, word.stop)]
    assert covered == list(range(len(read)))
    assert len(read) == len(read.places) == len(read.ids) == len(read.special)
    assert len(read) == len(read.separators) == len(read.unknown)
    placed = [place for place in read.places if place]
    assert all(a <= c and b <= d for (a, b), (c, d) in pairwise(placed)), "in order"
    assert all(0 <= a <= b <= len(text) for a, b in placed)
    left = set(range(len(text))) - {i for a, b in placed for i in range(a, b)}
    # A tokenizer may normalise white space, control characters and combining marks away.
    assert all(text[i].isspace() or unicodedata.category(text[i])[0] in "CMZ" for i in left)


@given(TEXTS)
def test_every_character_has_its_piece_and_every_piece_its_word(text: str) -> None:
    for maker in (BYTES, LEARNED, WORDS, SPACED):
        check(read_text(maker, text), text)
    ids = read_text(BYTES, text).ids
    assert BYTES.decode(ids, skip_special_tokens=False) == text


@given(TEXTS)
def test_the_same_holds_for_word_pieces(pieces: Encoder, text: str) -> None:
    check(read_text(pieces, text), text)


def test_a_learned_vocabulary() -> None:
    read = read_text(LEARNED, "der Hund (didn't), 3.14 猫x")
    assert "".join(read.labels) == "▁der▁Hund▁(didn't),▁3.14▁猫x"
    assert words_of(read) == ["der", "Hund", "(", "didn't", ")", ",", "3.14", "猫", "x"]
    assert marked(read, read.unknown) == ["猫", "x"]
    assert [i for i in read.ids if i == UNK] == [UNK, UNK]


def test_whole_words_and_words_between_spaces() -> None:
    read = read_text(WORDS, "the zoo, the mat")
    assert read.labels == ["▁the", "▁zoo", ",", "▁the", "▁mat"]
    assert marked(read, read.unknown) == ["▁zoo", ","]
    read = read_text(SPACED, "the didn't, </s> mat")
    assert words_of(read) == read.labels == ["the", "didn't,", "</s>", "mat"]
    assert marked(read, read.unknown) == ["didn't,", "</s>"], "what is typed is text"
    assert not any(read.special)


def test_many_texts_are_each_read_alone() -> None:
    texts = ["der Hund", "", "die Katze"]
    read = learned_pieces(LEARNED, texts)
    assert [len(r) for r in read] == [len(LEARNED.encode(text)) for text in texts]
    assert [r.text for r in read] == texts
    with pytest.raises(DataError, match="must be valid Unicode"):
        learned_pieces(LEARNED, ["der Hund", "\ud800"])


def test_what_a_model_wrote() -> None:
    ids = LEARNED.encode("die Katze didn't, (und)")
    wrote = written_pieces(LEARNED, [*ids, EOS])
    assert words_of(wrote) == ["die", "Katze", "didn't", ",", "(", "und", ")", "</s>"]
    assert wrote.special == [*[False] * len(ids), True]
    assert wrote.labels == LEARNED.pieces([*ids, EOS])


def test_a_tokenizer_without_places() -> None:
    from transformers import ByT5Tokenizer

    read = read_text(ByT5Tokenizer(), "The.")
    assert read.labels == ["T", "h", "e", ".", "</s>"]
    assert read.separators == [False, False, False, True, True]
    assert not read.placed
    assert len(read.words) == 5
    assert read_text(BYTES, "The.").placed


def test_texts_that_are_refused(pieces: Encoder) -> None:
    for maker in (pieces, BYTES, LEARNED):
        for empty in ("", " \n\t "):
            with pytest.raises(DataError, match="empty or all white space; give at least one word"):
                read_text(maker, empty)
        with pytest.raises(DataError, match=r"must be valid Unicode: .*surrogates not allowed"):
            read_text(maker, "a \udcff")


def test_the_story_is_read_whole() -> None:
    bare = [word for word in words_of(read_text(BYTES, STORY)) if word not in (r"\n", "␣")]
    assert "".join(bare) == "".join(STORY.split())


def test_texts_that_are_too_long(pieces: Encoder) -> None:
    read = read_text(pieces, "the cat sat")
    check_length(read, "tiny", 5)
    check_length(read, "tiny", None)
    with pytest.raises(DataError, match="the text has 5 tokens, tiny knows 4 positions; nothing"):
        check_length(read, "tiny", 4)


def test_folders_without_a_tokenizer(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "bert"}')
    message = r"has no tokenizer, so no text can be read: a model's folder has tokenizer\.json"
    with pytest.raises(ModelError, match=message):
        load_tokenizer(tmp_path)
    # transformers makes an empty BERT tokenizer of this, and says nothing
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "BertTokenizer"}')
    with pytest.raises(ModelError, match=message):
        load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(ModelError, match=r"cannot read '.*tokenizer.json'"):
        load_tokenizer(tmp_path)


def test_a_tokenizer_of_transformers_that_needs_no_file(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text('{"model_type": "t5"}')
    (tmp_path / "tokenizer_config.json").write_text('{"tokenizer_class": "ByT5Tokenizer"}')
    assert read_text(load_tokenizer(tmp_path), "a").labels == ["a", "</s>"]


@pytest.mark.parametrize("level", ["bpe", "word", "space"])
def test_pieces_of_words_that_are_given(level: str) -> None:
    words = ["We", "do", "n't", "(", "really", ")", "mind", "..."]
    learned = Tokenizer.train([" ".join(words), "we mind"], 60, level, least=1)  # type: ignore[arg-type]
    (numbers,) = word_numbers(learned, [words])
    pieces = spaced_pieces(learned, words)
    assert [word.text for word in pieces.words] == words
    assert len(numbers) == len(pieces) == len(pieces.ids)
    for i, word in enumerate(pieces.words):
        assert numbers[word.start : word.stop] == [i] * (word.stop - word.start)
        spelt = "".join(pieces.labels[word.start : word.stop]).replace("▁", "")
        assert spelt == word.text
    assert level == "bpe" or len(pieces) > len(words) or numbers == list(range(len(words)))


GIVEN = Tokenizer.train(["ab a.b (a) 'ab b'"], 20, least=1)


@given(st.lists(st.text("ab'.(é漢", min_size=1), min_size=1))
def test_every_given_word_has_its_pieces(words: list[str]) -> None:
    (numbers,) = word_numbers(GIVEN, [words])
    assert numbers == sorted(numbers)
    assert set(numbers) == set(range(len(words)))
