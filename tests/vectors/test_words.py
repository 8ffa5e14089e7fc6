"""Words: a vocabulary and a matrix. Values are small enough to compute by hand."""

from __future__ import annotations

import math
import subprocess
import sys

import numpy as np
import pytest

from regard.errors import RegardError, ShapeError, UnknownWordError
from regard.vectors.words import Words


@pytest.fixture
def words() -> Words:
    return Words(["east", "north", "northeast", "west", "nowhere"],
                 [[2, 0], [0, 3], [1, 1], [-5, 0], [0, 0]])  # fmt: skip


def test_a_vector_by_its_word(words: Words) -> None:
    assert (len(words), words.width) == (5, 2)
    assert "north" in words
    assert "North" not in words
    assert words["north"].tolist() == [0, 3]
    assert words.vectors.dtype == np.float32


def test_vectors_cannot_be_changed_by_accident(words: Words) -> None:
    with pytest.raises(ValueError, match="read-only"):
        words["north"][0] = 1


def test_an_unknown_word_suggests_near_ones(words: Words) -> None:
    with pytest.raises(
        UnknownWordError, match=r"'nort' is not among the 5 words; did you.*'north'"
    ):
        words["nort"]
    with pytest.raises(UnknownWordError, match="did you mean 'east'"):
        words["EAST"]


def test_near_words_by_cosine(words: Words) -> None:
    """cos(east, northeast) = 2/(2·√2), cos(east, north) = 0, cos(east, west) = −1."""
    near = words.nearest("east", 3)
    assert [word for word, _ in near] == ["northeast", "north", "west"]
    assert [cosine for _, cosine in near] == pytest.approx([1 / math.sqrt(2), 0, -1], abs=1e-7)


def test_near_words_leave_out_the_query_and_what_has_no_direction(words: Words) -> None:
    assert [word for word, _ in words.nearest("east", 99)] == ["northeast", "north", "west"]
    assert [word for word, _ in words.nearest([1, 0], 1)] == ["east"]


def test_near_words_refuse_what_has_no_answer(words: Words) -> None:
    with pytest.raises(RegardError, match="no direction"):
        words.nearest("nowhere")
    with pytest.raises(ShapeError, match=r"shape \(2,\), got \(3,\)"):
        words.nearest([1, 2, 3])
    with pytest.raises(RegardError, match="at least 1; got 0"):
        words.nearest("east", 0)
    with pytest.raises(RegardError, match="finite"):
        words.nearest([math.nan, 1])


def test_a_sentence_is_the_average_of_its_known_words(words: Words) -> None:
    made = words.sentence("East, north north upwards")
    assert made.vector.tolist() == pytest.approx([2 / 3, 6 / 3])
    assert made.known == ("East", "north", "north")
    assert made.unknown == (",", "upwards")
    assert [(found.token, found.word) for found in made.lowered] == [("East", "east")]


def test_a_sentence_of_unknown_words_is_refused_by_name(words: Words) -> None:
    with pytest.raises(UnknownWordError, match=r"nothing to average; unknown: 'nort'.*'zzz'"):
        words.sentence("nort zzz")


def test_lookup_keeps_every_token(words: Words) -> None:
    seen = words.lookup(["WEST", "east", "moon", "moon"])
    assert [found.row for found in seen.found] == [3, 0]
    assert seen.unknown == ("moon", "moon")


@pytest.mark.parametrize(
    ("names", "vectors", "message"),
    [
        ([], np.zeros((0, 2)), "at least one word"),
        (["a", "b"], [[1, 2]], r"shape \(2 words, width\), got \(1, 2\)"),
        (["a"], [1, 2], r"got \(2,\)"),
        (["a", "b", "a"], np.ones((3, 2)), "'a' is there 2 times"),
        (["a", "b"], [[1, 2], [math.nan, 1]], "'b' holds NaN"),
        (["a"], [[1e39]], "beyond float32"),
    ],
)
def test_what_is_not_a_vocabulary(names: list[str], vectors: object, message: str) -> None:
    with pytest.raises(RegardError, match=message):
        Words(names, vectors)  # type: ignore[arg-type]


def test_vectors_look_untrained_only_where_word2vec_starts() -> None:
    rng = np.random.default_rng(0)
    start = rng.uniform(-1 / 50, 1 / 50, (7, 50))
    names = [f"w{i}" for i in range(7)]
    assert Words(names, start).within_start
    assert not Words(names, start * 2).within_start
    assert not Words(["a"], [[0.1, 0.1]]).within_start


def test_loading_needs_neither_torch_nor_gensim() -> None:
    code = "import sys, regard.vectors.words; print(sorted({'torch', 'gensim'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
