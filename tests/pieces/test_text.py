"""A text as a model reads it: what is shown of its tokens, and which words they are parts of."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from regard.attention import Word
from regard.errors import DataError, UnknownWordError
from regard.pieces.text import TextPieces, group, plain_tokens, tokens_of
from tests.inside.tinytext import STORY, tokenizer
from tests.models.bert.tinybert import save_tokenizer


@pytest.fixture(scope="module")
def pieces(tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    folder = tmp_path_factory.mktemp("pieces")
    save_tokenizer(folder)
    made = Tokenizer.from_file(str(folder / "tokenizer.json"))
    made.no_truncation()
    made.no_padding()
    return made


def test_word_pieces(pieces: Tokenizer) -> None:
    tokens = tokens_of(pieces, "The unbelievable animal didn't  cross.")
    assert tokens.texts == [
        *("[CLS]", "the", "un", "##bel", "##iev", "##able", "animal", "didn", "'", "t", "cross"),
        *(".", "[SEP]"),
    ]
    assert [w.text for w in tokens.words] == [
        *("[CLS]", "The", "unbelievable", "animal", "didn't", "cross", ".", "[SEP]"),
    ]
    assert tokens.words[2] == Word("unbelievable", 2, 6)
    assert [t for t, s in zip(tokens.texts, tokens.special, strict=True) if s] == ["[CLS]", "[SEP]"]
    assert [t for t, s in zip(tokens.texts, tokens.separators, strict=True) if s] == [
        "'",
        ".",
        "[SEP]",
    ]
    assert [i for i, sink in enumerate(tokens.sinks) if sink] == [0, 12]


def test_bytes_of_one_sign_are_one_word() -> None:
    tokens = tokens_of(tokenizer(), "The street 🙂 é\n\nwas")
    words = ["The", "street", "␣", "🙂", "␣", "é", r"\n", r"\n", "was"]
    assert [w.text for w in tokens.words] == words
    smile = tokens.words[3]
    assert tokens.texts[smile.start : smile.stop] == ["🙂"] * 4
    assert not any(tokens.special)
    assert [tokens.separators[w.start] for w in tokens.words] == [w == r"\n" for w in words]


def test_a_special_token_typed_by_the_user_is_special() -> None:
    tokens = tokens_of(tokenizer(), "The</s>street")
    assert [t for t, s in zip(tokens.texts, tokens.special, strict=True) if s] == ["</s>"]


TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda t: t.strip())


@given(TEXTS)
def test_words_cover_all_tokens_of_any_text(text: str) -> None:
    tokens = tokens_of(TOKENIZER, text)
    covered = [i for word in tokens.words for i in range(word.start, word.stop)]
    assert covered == list(range(len(tokens)))
    assert TOKENIZER.decode(tokens.ids) == text


TOKENIZER = tokenizer()


def test_words_are_those_of_regard() -> None:
    places = [(0, 0), (0, 3), (3, 5), (5, 7), (7, 9), (9, 10), (10, 12)]
    words = group("didn't 3.14 x", ["[S]", "did", "n'", "t ", "3.", "1", "4 "], places)
    assert [w.text for w in words] == ["[S]", "didn't", "3.14"]


def test_finding_words(pieces: Tokenizer) -> None:
    tokens = tokens_of(pieces, "The unbelievable cat. the cat")
    assert tokens.word("unbelievable") == (Word("unbelievable", 2, 6), 1)
    assert tokens.word("##iev") == (Word("##iev", 4, 5), 1)
    assert tokens.word("cat#2") == (Word("cat", 9, 10), 2)
    assert tokens.word("the#2")[0].start == 8
    with pytest.raises(UnknownWordError, match="'cat' occurs 2 times, got 'cat#3'"):
        tokens.word("cat#3")
    with pytest.raises(UnknownWordError, match="did you mean 'unbelievable'"):
        tokens.word("unbeleivable")


def test_the_beginning_and_a_start_token(pieces: Tokenizer) -> None:
    tokens = tokens_of(pieces, "the unbelievable cat")
    first = tokens.beginning(4)
    assert first.texts == ["[CLS]", "the", "un", "##bel"]
    assert first.words[-1] == Word("unbelievable", 2, 4)
    shifted = first.after(1, "</s>")
    assert shifted.texts[0] == "</s>"
    assert shifted.words[-1] == Word("unbelievable", 3, 5)
    assert len(shifted.separators) == len(shifted.special) == len(shifted) == 5
    assert tokens.without_last().texts == tokens.texts[:-1]


def test_a_tokenizer_without_places(tmp_path: Path) -> None:
    from transformers import ByT5Tokenizer

    tokens = plain_tokens(ByT5Tokenizer(), "The.")
    assert tokens.texts == ["T", "h", "e", ".", "</s>"]
    assert tokens.separators == [False, False, False, True, True]
    assert not tokens.grouped
    assert len(tokens.words) == 5


def test_texts_that_are_refused() -> None:
    for empty in ("", " \n\t "):
        with pytest.raises(DataError, match="empty or all white space; give at least one word"):
            tokens_of(TOKENIZER, empty)
    with pytest.raises(DataError, match=r"a text must be valid Unicode: .*surrogates not allowed"):
        tokens_of(TOKENIZER, "a \udcff")


def test_the_story_is_read_whole() -> None:
    tokens: TextPieces = tokens_of(TOKENIZER, STORY)
    bare = [w.text for w in tokens.words if w.text not in (r"\n", "␣")]
    assert "".join(bare) == "".join(STORY.split())
