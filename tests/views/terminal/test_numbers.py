"""Numbers, bars and safe text for the terminal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from regard.errors import UnknownWordError
from regard.text import find_token, visible
from regard.views.terminal.numbers import bar, colour, decimals, number, vector


@pytest.mark.parametrize(
    ("most", "places"), [(0.8, 4), (2.0, 3), (12.0, 2), (5000.0, 2), (0.0099, 6), (0.0, 4)]
)
def test_about_four_digits_of_the_largest(most: float, places: int) -> None:
    assert decimals(np.array([most / 7, -most])) == places


def test_a_rounded_zero_has_no_sign_and_infinity_has_a_name() -> None:
    assert number(-0.00004, 4) == "0.0000"
    assert number(-0.00006, 4) == "-0.0001"
    assert [number(x, 2) for x in (float("-inf"), float("inf"), float("nan"))] == [
        "-inf",
        "inf",
        "nan",
    ]


def test_a_vector_that_fits_is_whole() -> None:
    assert vector(np.array([1.0, -0.25]), 40) == "[ 1.000 -0.250]"


@given(st.integers(1, 300), st.integers(24, 200))
def test_a_vector_keeps_to_its_width_and_says_how_long_it_is(n: int, width: int) -> None:
    text = vector(np.linspace(-1, 1, n), width)
    assert len(text) <= width
    if "…" in text:
        assert text.endswith(f"… {n} in all]")
    else:
        assert len(text[1:-1].split()) == n


@given(st.floats(0, 1), st.integers(1, 60))
def test_a_bar_is_as_long_as_its_share(share: float, width: int) -> None:
    text = bar(share, width).plain
    assert abs(cell_len(text) - share * width) <= 1
    assert len(text) <= width


def test_colours_run_from_blue_to_yellow() -> None:
    assert colour(1) == (253, 231, 37)
    assert colour(0)[2] > colour(0)[0]
    assert colour(-1) == colour(0)
    assert colour(2) == colour(1)


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
