"""Parts: what is known of a worked example before it is computed."""

from __future__ import annotations

import numpy as np
import pytest

from regard.worked.parts import Parts


def test_a_layout_turns_the_matrices() -> None:
    given = {"x": np.ones((5, 3)), "w_q": np.ones((2, 3)), "w_k": np.ones((2, 3))}
    rows = Parts("scaled", list("abcde"), given, layout="rows-are-outputs")
    assert rows.turned("w_q").shape == (3, 2)
    assert (rows.outputs("w_q"), rows.width_of_keys) == (2, 2)
    assert rows.factor == pytest.approx(2**-0.5)
    assert rows.x.shape == (5, 3)


def test_keys_and_values_may_have_fewer_heads() -> None:
    given = {"x": np.ones((5, 3)), "w_q": np.ones((3, 8)), "w_k": np.ones((3, 4))}
    grouped = Parts("multihead", list("abcde"), given, heads=4, key_heads=2)
    assert [grouped.heads_of(step) for step in ("queries", "keys", "values")] == [4, 2, 2]
    assert grouped.width_of_keys == 2


def test_what_scores_are_multiplied_by_may_be_unknown() -> None:
    scores = {"scores": np.array([[112.0, 96.0]])}
    assert Parts("scaled", ["a", "b"], scores).factor is None
    assert Parts("scaled", ["a", "b"], scores, d_k=64).factor == 1 / 8
    assert Parts("scaled", ["a", "b"], scores, d_k=64, scale=3.0).factor == 3
