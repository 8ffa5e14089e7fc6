"""ROUGE: by hand, and its longest common sequence against a slow one."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.train.tasks.rouge import copied, first_words, rouge, rouge_words

WORDS = st.lists(st.sampled_from("abc"), max_size=6)


def test_by_hand() -> None:
    """police killed the gunman: Lin (2004), section 3, where ROUGE-L is .75 and .5."""
    right = "police killed the gunman"
    one, other = "police kill the gunman", "the gunman kill police"
    assert rouge([one], [right]) == pytest.approx(
        {"ROUGE-1": 75.0, "ROUGE-2": 100 / 3, "ROUGE-L": 75.0}
    )
    assert rouge([other], [right])["ROUGE-L"] == pytest.approx(50.0)
    both = rouge([one, other], [right, right])
    assert both["ROUGE-L"] == pytest.approx(62.5)


def test_lengths_count() -> None:
    found = rouge(["a b"], ["a b c d"])
    assert found["ROUGE-1"] == pytest.approx(100 * 2 * 2 / 6)
    assert found["ROUGE-2"] == pytest.approx(100 * 2 * 1 / 4)
    assert rouge(["a a a"], ["a"])["ROUGE-1"] == pytest.approx(100 * 2 * 1 / 4)


def test_marks_and_capitals_do_not() -> None:
    assert rouge_words("The C++-like file_name, 2nd!") == [
        "the",
        "c",
        "like",
        "file",
        "name",
        "2nd",
    ]
    assert rouge(["A file."], ["a FILE"])["ROUGE-L"] == 100.0
    assert rouge([""], ["a"]) == {"ROUGE-1": 0.0, "ROUGE-2": 0.0, "ROUGE-L": 0.0}


@given(WORDS, WORDS)
def test_the_longest_common_sequence(one: list[str], other: list[str]) -> None:
    def parts(words: list[str]) -> set[tuple[str, ...]]:
        return {p for n in range(len(words) + 1) for p in combinations(words, n)}

    longest = max(len(p) for p in parts(one) & parts(other))
    expected = 200 * longest / (len(one) + len(other)) if longest else 0.0
    found = rouge([" ".join(one)], [" ".join(other)])["ROUGE-L"]
    assert found == pytest.approx(expected)


def test_the_beginning_and_what_is_copied() -> None:
    assert first_words("A tool (for files).", 3) == "a tool for"
    assert copied(["a tool", "new files"], ["A tool for files", "old files"]) == 3 / 4
    assert copied([""], ["a"]) == 0.0


def test_as_many_of_both() -> None:
    with pytest.raises(DataError, match="as many summaries as references, at least one; got 1 and"):
        rouge(["a"], [])
