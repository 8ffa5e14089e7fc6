"""The view of reading: words wrapped, weights small, and shades only on a terminal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.text import Text

from regard.views.terminal.reading import print_reading, print_weighted, shade, weighted, wrapped
from tests.views.terminal.consoles import console, printed


@pytest.mark.parametrize(
    ("weight", "shown"),
    [(0.0, "cat"), (0.004, "cat"), (0.006, "cat₁"), (0.5, "cat₅₀"), (1, "cat₁₀₀")],
)
def test_weights_in_small_hundredths(weight: float, shown: str) -> None:
    assert weighted("cat", weight).plain == shown
    assert bool(shade(weight).bgcolor) == (weight >= 0.005)


@given(st.lists(st.text("abc猫ä", min_size=1, max_size=9), max_size=30), st.integers(18, 60))
def test_lines_fit_and_lose_no_word(words: list[str], room: int) -> None:
    lines = list(wrapped([Text(word) for word in words], room))
    assert all(cell_len(line.plain) <= room for line in lines)
    assert " ".join(line.plain for line in lines).split() == " ".join(words).split()


def test_a_reading_by_hand() -> None:
    weights = np.array([[0, 0, 0], [1, 0, 0], [0.25, 0.75, 0]])
    to = console()
    print_reading(["<s>", "a", "cat"], np.array([0, 3.14, 12.0]), weights, to)
    lines = [line.rstrip() for line in printed(to).splitlines()]
    assert lines == [" bits", "  3.1  <s>₁₀₀ a", " 12.0  <s>₂₅ a₇₅ cat"]


def test_shades_on_a_terminal() -> None:
    to = console(colours=True)
    print_weighted(["good", "film"], [0.9, 0.0], to)
    assert "\x1b[" in printed(to)
    assert "48;2;" in printed(to), "a background"


def test_words_are_data() -> None:
    to = console()
    print_weighted(["[red]x", "\x1b[31m"], [0.0, 0.0], to)
    assert printed(to).strip() == "[red]x \\x1b[31m"


def test_of_a_long_text_each_word_has_its_strongest_few() -> None:
    count = 301
    words = [f"w{i}" for i in range(count)]
    weights = np.zeros((count, count), np.float32)
    for t in range(count):
        weights[t, [0, max(0, t - 2)]] = 0.4, 0.5
    out = console()
    print_reading(words, np.ones(count), weights, out)
    lines = printed(out).splitlines()
    assert "300 words: of each, the 8 that it attends to most" in lines[1]
    assert len(lines) == count + 1
    last = lines[-1].split()
    assert (len(last), last[0], last[1], last[-1]) == (10, "1.0", "w0₄₀", "w300")
    assert "w298₅₀" in last
