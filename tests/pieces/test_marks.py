"""Tokens of which only the spelling is known."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.pieces.marks import from_labels, is_mark


@pytest.mark.parametrize(
    ("tokens", "starts", "names"),
    [
        (["[CLS]", "an", "##im", "##al", "it"], [0, 1, 4], ["[CLS]", "animal", "it"]),
        (["▁Kön", "nen", "▁Sie", "?", "</s>"], [0, 2, 3, 4], ["Können", "Sie", "?", "</s>"]),
        (["The", "Ġan", "imal", ".", "Ġ", "It"], [0, 1, 3, 4], ["The", "animal", ".", "It"]),
        (["▁didn", "'", "t", "▁(", "a", ")"], [0, 3, 4, 5], ["didn't", "(", "a", ")"]),
        (["a", "b"], [0, 1], ["a", "b"]),
        ([], [], []),
    ],
)
def test_words_by_their_marks(tokens: list[str], starts: list[int], names: list[str]) -> None:
    words = from_labels(tokens).words
    assert [word.start for word in words] == starts
    assert [word.text for word in words] == names


def test_special_unknown_and_separating_tokens() -> None:
    made = from_labels(["[CLS]", "a", ",", "<|im_end|>", "</s>", "s", "[UNK]", "[SEP]"], "source")
    assert [i for i, own in enumerate(made.special) if own] == [0, 3, 4, 7]
    assert [i for i, own in enumerate(made.separators) if own] == [2, 3, 4, 7]
    assert [i for i, own in enumerate(made.unknown) if own] == [6]
    assert made.name == "source"


def test_letters_of_byte_level_bpe_are_the_text_again() -> None:
    assert from_labels(["ĠÃ¤", "Ċ", "Ã¤"]).labels == ["▁ä", "⏎", "ä"]
    assert from_labels(["plain"]).labels == ["plain"]


SIGNS = st.sampled_from(["▁", "Ġ", "#", "a", ".", " ", "\ud800", "中"])


@given(st.lists(st.text(SIGNS), max_size=9))
def test_words_cover_any_tokens(tokens: list[str]) -> None:
    made = from_labels(tokens)
    covered = [i for word in made.words for i in range(word.start, word.stop)]
    assert covered == list(range(len(tokens)))


def test_marks_of_punctuation() -> None:
    assert is_mark("?!")
    assert is_mark(" .")
    assert is_mark("\n ")
    assert not is_mark(" ")
    assert not is_mark("a.")
