"""One head for one word: what is read off its trace."""

from __future__ import annotations

import numpy as np
import pytest

from regard.errors import RegardError
from regard.inside.explain.explained import Explained, Proof, check_place
from regard.pieces.marks import from_labels
from regard.text import Word
from regard.trace import Trace

WEIGHTS = np.array([[[0.5, 0.25, 0.25], [0.125, 0.125, 0.75], [0.5, 0.5, 0.0]]] * 2)


def test_of_a_word_of_several_tokens_the_one_is_shown_that_gives_most() -> None:
    matrix = WEIGHTS[1]
    word, to = Word("ab", 0, 2), Word("bc", 1, 3)
    reading = from_labels(["a", "b", "c"])
    found = Explained(
        *("m", (1, 2), reading, 0, 1, word, to, None, None),
        *(Trace([]), matrix, 8 * matrix, Proof(3, 1e-6, "same")),
    )
    assert found.given.tolist() == [0.5, 0.875]
    assert found.share == pytest.approx(0.6875)
    assert found.token == 1
    assert found.weights.tolist() == [0.125, 0.125, 0.75]
    assert found.scaled.tolist() == [1, 1, 6]


def test_a_place_that_is_not_there() -> None:
    check_place("m", (2, 3), None, None)
    check_place("m", (2, 3), 1, 2)
    with pytest.raises(RegardError, match="m has 2 layers, counted from 0: layer must be from 0 t"):
        check_place("m", (2, 3), 2, 0)
    with pytest.raises(RegardError, match=r"m has 3 heads, counted from 0: .* to 2, got -1"):
        check_place("m", (2, 3), 0, -1)
