"""Slips: each is recognised, and a number that is wrong by chance is put down to none."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest

from regard.worked.check import check
from regard.worked.example import Example
from regard.worked.stages import compute
from tests.worked.examples import tutorial
from tests.worked.slip_cases import CASES, recognised


@pytest.mark.parametrize("name", CASES)
def test_a_slip_is_recognised(name: str) -> None:
    assert recognised(name, 10) >= 0.9


def test_softmax_of_one_score_alone_is_found_in_the_tutorial() -> None:
    said = {(w.step, w.index): w.slip for w in check(tutorial()).wrong if w.slip}
    assert said == {("weights", (0, 1)): "softmax is taken of each score alone, 1 / (1 + e^-score)"}


def test_a_sigmoid_for_tanh() -> None:
    rng = np.random.default_rng(0)
    given = {"s": rng.normal(size=(1, 2)), "h": rng.normal(size=(3, 5)),
             "w_a": rng.normal(size=(2, 4)), "u_a": rng.normal(size=(5, 4)),
             "v_a": rng.normal(size=4)}  # fmt: skip
    hidden = given["s"] @ given["w_a"] + given["h"] @ given["u_a"]
    scores = (1 / (1 + np.exp(-hidden))) @ given["v_a"]
    claims = {"scores[0]": [Decimal(f"{e:.4f}") for e in scores]}
    wrong = check(Example("additive", ["y"], given, claims=claims)).wrong
    assert {w.slip for w in wrong} == {"a sigmoid is taken for tanh"}


def test_heads_of_one_number_in_the_wrong_order() -> None:
    x, w = np.array([[1.0, 2.0], [2.0, 1.0]]), np.array([[1.0, 0.3], [0.2, 1.0]])
    given = {"x": x, "w_q": w, "w_k": w, "w_v": w, "w_o": np.array([[1.0], [2.0]])}
    example = Example("multihead", ["a", "b"], given, heads=2)
    context = compute(example).value("context")[..., 0]
    claims = {"output": [[Decimal(f"{two + 2 * one:.4f}")] for one, two in context.T]}
    wrong = check(replace(example, claims=claims)).wrong
    assert {w.slip for w in wrong} == {"the heads are concatenated in the wrong order"}
