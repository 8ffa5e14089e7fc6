"""Words out of pieces, and numbers about words out of those about pieces."""

from __future__ import annotations

import numpy as np

from regard.pieces.grouping import by_word, group
from regard.text import Word


def test_words_are_those_of_regard() -> None:
    places = [(), (0, 3), (3, 5), (5, 7), (7, 9), (9, 10), (10, 12)]
    words = group("didn't 3.14 x", ["[S]", "did", "n'", "t ", "3.", "1", "4 "], places)
    assert [w.text for w in words] == ["[S]", "didn't", "3.14"]


def test_a_blank_belongs_to_the_word_behind_it() -> None:
    labels = ["a", "▁", "b", "▁", "▁", "c", "▁"]
    places = [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 6), (6, 7)]
    words = group("a b  c ", labels, places)
    assert words == [
        *(Word("a", 0, 1), Word("b", 1, 3), Word("▁", 3, 4), Word("c", 4, 6), Word("▁", 6, 7))
    ]
    assert group("a\nb", ["a", r"\n", "b"], [(0, 1), (1, 2), (2, 3)])[1] == Word(r"\n", 1, 2)


def test_nothing() -> None:
    assert group("", [], []) == []
    assert by_word(np.ones((0, 3)), [], mean=True).shape == (0, 3)


def test_sums_and_means() -> None:
    words = [Word("übersetzen", 0, 3), Word(",", 3, 4), Word("bitte", 4, 6)]
    rows = np.arange(12.0).reshape(6, 2)
    np.testing.assert_array_equal(by_word(rows, words, mean=False), [[6, 9], [6, 7], [18, 20]])
    np.testing.assert_array_equal(by_word(rows, words, mean=True), [[2, 3], [6, 7], [9, 10]])
    np.testing.assert_array_equal(by_word(rows[:, 0], words, mean=True), [2, 6, 9])
