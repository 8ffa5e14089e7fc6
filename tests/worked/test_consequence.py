"""Errors that follow from earlier ones."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from regard.worked.check import check
from regard.worked.example import Example
from regard.worked.stages import compute
from regard.worked.working import working
from tests.worked.cases import written
from tests.worked.examples import tutorial, two_heads


def test_errors_that_only_follow_from_earlier_ones_are_told_apart() -> None:
    carried = {(w.step, w.index) for w in check(tutorial()).wrong if w.carried}
    # .48 = .8 * .6 and .24 = .48 / 2 are right arithmetic on a wrong key; the softmax is not.
    assert carried == {("scores", (0, 1)), ("scaled", (0, 1)), ("context", (0, 0))}


@pytest.mark.parametrize("layout", ["columns-are-outputs", "rows-are-outputs"])
def test_errors_are_carried_through_the_last_steps(layout: str) -> None:
    # Row 0 sees only itself, with the value [2, 0] in both heads; 3 is claimed for one of them.
    right = two_heads(layout, **{"concatenated[0]": [2, 0, 2, 0], "output[0]": [4, 0]})
    assert check(right).wrong == []
    claims = {
        "values[1][0]": [3, 0],
        "weighted_values[1][0][0]": [3, 0],
        "context[1][0]": [3, 0],
        "concatenated[0]": [2, 0, 3, 0],
        "output[0]": [5, 1],
    }
    found = {(w.step, w.index): w.carried for w in check(two_heads(layout, **claims)).wrong}
    assert found == {
        ("values", (1, 0, 0)): False,
        ("weighted_values", (1, 0, 0, 0)): True,
        ("context", (1, 0, 0)): True,
        ("concatenated", (0, 2)): True,
        ("output", (0, 0)): True,
        ("output", (0, 1)): False,
    }


def test_an_error_is_carried_over_steps_that_nobody_claims() -> None:
    claims: dict[str, Any] = {"values[1][0]": [3, 0], "output[0]": [5, 0]}
    assert [w.carried for w in check(two_heads(**claims)).wrong] == [False, True]


def test_one_head_carries_from_its_context_to_the_output() -> None:
    x, eye = np.array([[1.0, 2.0]]), np.eye(2)
    matrices = {"w_q": eye, "w_k": eye, "w_v": eye, "w_o": np.array([[1.0], [1.0]])}
    claims = {"context[0][0]": 5, "output[0][0]": 7}
    example = Example("scaled", ["a"], {"x": x, **matrices}, claims=claims)
    assert [w.carried for w in check(example).wrong] == [False, True]
    assert working(example, compute(example), "output", (0, 0)) == (
        "y_1: c_1 · column 1 of W_O = 1·1 + 2·1 = 3"
    )


def test_what_follows_unrounded_from_a_wrong_number_is_carried() -> None:
    """The product is written to one digit, what comes of it is made of all its digits."""
    q, k = np.array([[1.0, 0.37]]), np.array([[1.0, 1.0], [0.0, 0.0]])
    wrong = 1.37 + 1  # one is added to q_1 · k_1, and everything after it is right
    weights = np.exp([wrong / np.sqrt(2), 0]) / np.exp([wrong / np.sqrt(2), 0]).sum()
    claims = {
        "scores": written([[wrong, 0]], 2),
        "scaled": written([[wrong / np.sqrt(2), 0]], 1),
        "weights": written([weights], 4),
    }
    example = Example("scaled", ["a", "b"], {"queries": q, "keys": k}, claims=claims)
    found = {(w.step, w.index): w.carried for w in check(example).wrong}
    assert found.pop(("scores", (0, 0))) is False
    assert found == dict.fromkeys(
        [("scaled", (0, 0)), ("weights", (0, 0)), ("weights", (0, 1))], True
    )
