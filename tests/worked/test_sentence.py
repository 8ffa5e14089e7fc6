"""Examples made of a sentence: what is refused, and what is said about words that stand twice."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.errors import RegardError
from regard.worked.example import Example
from regard.worked.sentence import from_sentence, on_equal_words
from regard.worked.stages import compute


@pytest.fixture
def vectors(tmp_path: Path) -> Path:
    file = tmp_path / "v.txt"
    file.write_text("the 1 0\ncat 0 1\nsat 1 1\n", encoding="utf-8")
    return file


def said(vectors: Path, sentence: str, place: int, **options: object) -> list[str]:
    example, _ = from_sentence(sentence, vectors, "simple", **options)  # type: ignore[arg-type]
    return on_equal_words(example, compute(example), place)


def test_a_negative_seed_is_refused(vectors: Path) -> None:
    with pytest.raises(RegardError, match="a seed must be a whole number of 0 or more, got -1"):
        from_sentence("the cat", vectors, "scaled", seed=-1)


def test_only_the_chosen_word_is_reported_and_the_others_are_counted(vectors: Path) -> None:
    sentence = "the cat sat the cat sat the"
    assert said(vectors, sentence, 1) == [
        "'cat' stands at 2 and 5; its outputs are equal: without positions attention cannot tell "
        "them apart (and 2 other repeated words)."
    ]
    assert said(vectors, sentence, 6)[0].startswith("'the' stands at 1, 4 and 7; ")
    assert said(vectors, "the cat the", 1) == [], "'cat' stands once"
    assert said(vectors, "the cat " * 9, 0)[0].startswith(
        "'the' stands at 1, 3, 5, 7 and 5 more places; "
    )
    assert said(vectors, "the cat " * 9, 0)[0].endswith("(and 1 other repeated word).")


@pytest.mark.parametrize(
    ("options", "cause"),
    [
        ({"positions": "sinusoidal"}, "positions tell them apart."),
        ({"causal": True}, "the causal mask tells them apart."),
        (
            {"causal": True, "positions": "sinusoidal"},
            "positions and the causal mask tell them apart.",
        ),
    ],
)
def test_every_cause_is_named(vectors: Path, options: dict[str, object], cause: str) -> None:
    (line,) = said(vectors, "the cat the", 0, **options)
    assert line.startswith("'the' stands at 1 and 3; its outputs differ by up to ")
    assert line.endswith(f": {cause}")


def test_a_row_for_each_word_tells_equal_words_apart_too() -> None:
    x, w = np.array([[1.0, 0.0], [1.0, 0.0]]), np.array([[1.0, 2.0], [3.0, 4.0]])
    matrices = {"w_q": w, "w_k": w, "w_v": w}
    example = Example("scaled", ["a", "a"], {"x": x, **matrices}, layout="row-per-word")
    (line,) = on_equal_words(example, compute(example), 0)
    assert line.endswith(": the row of W for each word tells them apart.")


def test_positions_that_change_nothing() -> None:
    zero = np.zeros((2, 2))
    given = {"x": np.ones((2, 2)), **dict.fromkeys(("w_q", "w_k", "w_v"), zero)}
    example = Example("scaled", ["a", "a"], given, positions="sinusoidal")
    (line,) = on_equal_words(example, compute(example), 1)
    assert line == "'a' stands at 1 and 2; its outputs are equal all the same."
