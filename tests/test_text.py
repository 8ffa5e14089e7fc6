"""Text made safe to print, as wide as a terminal shows it, cut to a width, and its words found."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import UnknownWordError
from regard.text import (
    aligned,
    columns,
    cut,
    find_token,
    listed,
    number_of,
    padded,
    quoted,
    visible,
)


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("cat", 3), ("猫", 2), ("é", 1), ("e\u0301", 1), ("ｃ", 2)]
)
def test_columns(text: str, width: int) -> None:
    assert columns(text) == width


def test_a_number_and_its_noun() -> None:
    assert number_of(1, "user") == "1 user"
    assert number_of(0, "user") == "0 users"
    assert number_of(2000, "user") == "2,000 users"
    assert [number_of(n, "patch", "patches") for n in (1, 2)] == ["1 patch", "2 patches"]


def test_cut() -> None:
    assert cut("attention", 9) == "attention"
    assert cut("attention", 5) == "atte…"
    assert cut("a cat", 3) == "a…"
    assert cut("猫猫猫", 4) == "猫…"
    assert padded("猫", 4) == "猫  "


@given(text=st.text(), most=st.integers(1, 20))
def test_a_cut_text_fits(text: str, most: int) -> None:
    short = cut(text, most)
    assert columns(short) <= most
    assert short == text or (short.endswith("…") and text.startswith(short[:-1]))


def test_equal_tokens_stand_beside_each_other() -> None:
    assert aligned(["a", "b", "c"], ["a", "x", "y", "c"]) == [(0, 0), (1, 1), (None, 2), (2, 3)]
    assert aligned(["a", "b"], ["b"]) == [(0, None), (1, 0)]


def test_control_characters_are_shown_not_obeyed() -> None:
    assert visible("a\x1b[31mb\u202ec\x00d\ne") == "a\\x1b[31mb\\u202ec\\x00d e"
    assert visible("猫 été 👩‍👧 می‌خواهم") == "猫 été 👩‍👧 می‌خواهم"


@given(st.text())
def test_visible_text_is_one_line_without_control_characters(text: str) -> None:
    shown = visible(text)
    assert all(c.isprintable() or c in "\u200c\u200d" for c in shown)
    assert visible(shown) == shown


def test_words_are_found_by_text_case_and_number() -> None:
    tokens = ["The", "cat", "saw", "the", "the"]
    assert find_token(tokens, "the") == (3, 2)
    assert find_token(tokens, "THE") == (0, 3)
    assert find_token(tokens, "the#2") == (4, 2)
    assert find_token(["c#2", "c"], "c#2") == (0, 1)


def test_a_word_that_is_not_there_suggests_the_nearest() -> None:
    with pytest.raises(UnknownWordError, match=r"'cta' is not one of .*; did you mean 'cat'\?"):
        find_token(["the", "cat"], "cta")
    with pytest.raises(UnknownWordError, match="'cat' occurs 1 times, got 'cat#3'"):
        find_token(["the", "cat"], "cat#3")


def test_a_list_of_words_names_each_once() -> None:
    with pytest.raises(UnknownWordError) as error:
        find_token(["the", "cat", "the"], "dog")
    assert str(error.value) == "'dog' is not one of the words 'the cat'"
    assert isinstance(error.value, KeyError), "what is asked like a dictionary fails like one"


def test_quotes() -> None:
    assert quoted("it") == "'it'"
    assert quoted("didn't") == '"didn\'t"'
    assert quoted("\\") == "'\\'", "one, not two"
    assert quoted("\x1b") == "'\\x1b'"


def test_words_in_order_with_their_counts() -> None:
    assert listed(["b", "a\x1b", "b"]) == "'b' ×2, 'a\\x1b'"
    assert listed(map(str, range(23)), 3) == "'0', '1', '2' and 20 more"
