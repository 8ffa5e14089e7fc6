"""Compared: rows of a step, the words that they are of, and why a claim is wrong."""

from __future__ import annotations

import numpy as np

from regard.trace import Step, Trace
from regard.views.compared import Compared, labels_of, row_label, rows_of


def test_rows_and_their_words() -> None:
    step = Step("weights", np.zeros((2, 3, 5)), axes=("head", "query", "key"))
    trace = Trace([step], tokens=["a", "b", "c"])
    labels = labels_of(trace, step, ["p", "q", "r", "s", "t"])
    assert rows_of(step)[:4] == [(0, 0), (0, 1), (0, 2), (1, 0)]
    assert row_label(labels, (1, 2)) == "head 1, c"
    assert labels[2] == ["p", "q", "r", "s", "t"]
    vector = Step("state", np.zeros(3), axes=("hidden",))
    assert rows_of(vector) == [()]
    assert labels_of(trace, vector, []) == {}
    own = Step("probabilities", np.zeros(2), axes=("word",), labels={"word": ["x", "y"]})
    assert labels_of(trace, own, []) == {0: ["x", "y"]}


def test_a_reason_is_given_once() -> None:
    claim = Compared(np.ones((2, 2)), {(0, 0): "so", (0, 1): "so", (1, 1): ""})
    assert (claim.reasons((0,)), claim.reasons((1,))) == (["so"], [])
