"""Text as wide as a terminal shows it, and cut to a width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.text import aligned, columns, cut, padded


@pytest.mark.parametrize(
    ("text", "width"), [("", 0), ("cat", 3), ("猫", 2), ("é", 1), ("e\u0301", 1), ("ｃ", 2)]
)
def test_columns(text: str, width: int) -> None:
    assert columns(text) == width


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
