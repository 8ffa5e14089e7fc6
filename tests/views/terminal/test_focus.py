"""One word of one head of a trace: its rows, and the words around it."""

from __future__ import annotations

import numpy as np
import pytest

from regard.trace import Step, Trace
from regard.views.terminal.focus import Focus, around, key_cell, word_cell
from tests.views.terminal.consoles import console


@pytest.mark.parametrize(
    ("centre", "n", "most", "places"),
    [(0, 3, 5, [0, 1, 2]), (0, 9, 4, [0, 1, 2, 3]), (5, 9, 4, [3, 4, 5, 6]), (8, 9, 3, [6, 7, 8])],
)
def test_neighbours(centre: int, n: int, most: int, places: list[int]) -> None:
    assert around(centre, n, most) == places


def test_the_strongest_words_and_the_word_itself() -> None:
    n = 40
    weights = np.zeros((2, n, n))
    weights[1, 7] = np.linspace(0, 1, n)  # the last words have the most
    step = Step("weights", weights, axes=("head", "query", "key"))
    focus = Focus(Trace([step], tokens=[f"w{i}\x1b" for i in range(n)]), 7, 1, console())
    assert focus.rows == [7, *range(16, 40)]
    np.testing.assert_array_equal(focus.weights, weights[1, 7])
    assert word_cell(focus, 7).plain == "w7\\x1b"
    assert "reverse" in str(word_cell(focus, 7).style)
    assert (focus.label_width, focus.room) == (7, 80 - 4 - 7)


def test_another_text_is_attended_to() -> None:
    labels = {"query": ["a", "b"], "key": ["x", "y\x1b", "z"]}
    weights = np.array([[0.5, 0.25, 0.25], [0.125, 0.75, 0.125]])
    step = Step("weights", weights, axes=("query", "key"), labels=labels)
    focus = Focus(Trace([step], tokens=["a", "b"]), 1, 0, console())
    assert (focus.words, focus.keys, focus.rows) == (["a", "b"], ["x", "y\\x1b", "z"], [0, 1, 2])
    assert focus.crosses
    assert "reverse" in str(word_cell(focus, 1).style)
    assert "reverse" not in str(key_cell(focus, 1).style), "no word of the source is the word"
    assert key_cell(focus, 1).plain == "y\\x1b"
