"""A worked example's claims against the computation: numbers, order, and misunderstandings."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np
import pytest
import torch

import regard
from regard.worked.check import check
from regard.worked.example import Example
from regard.worked.stages import compute
from tests.worked.cases import (
    Variant,
    called,
    generated,
    numbers_of,
    places,
    variants,
    with_one_wrong,
)
from tests.worked.examples import tutorial


def test_the_printed_tutorial_has_exactly_these_wrong_numbers() -> None:
    report = check(tutorial())
    found = {(w.step, w.index): (w.claimed, round(w.correct, 4)) for w in report.wrong}
    assert found == {
        ("queries", (2, 0)): (0.6, 0.4),
        ("keys", (1, 0)): (0.6, 1.0),
        ("values", (1, 0)): (0.8, 1.0),
        ("scores", (0, 1)): (0.48, 0.8),
        ("scaled", (0, 1)): (0.24, 0.4),
        ("weights", (0, 0)): (0.5987, 0.3191),
        ("weights", (0, 1)): (0.5987, 0.3744),
        ("weights", (0, 2)): (0.5799, 0.3065),
        ("context", (0, 0)): (1.1281, 0.7191),
    }
    assert report.right == 10
    assert report.wrong[0].step == "queries", "the first in the order of computation"


def test_the_corrected_tutorial_is_right_and_needs_no_remark() -> None:
    report = check(Example.load("tutorial-corrected"))
    assert report.wrong == []
    assert report.remarks == []
    assert report.right == 63


def test_two_heads_example_is_right() -> None:
    report = check(Example.load("two-heads"))
    assert report.wrong == []
    assert report.trace["weights"].axes == ("head", "query", "key")


def test_the_computation_equals_numpy_float64() -> None:
    example = Example.load("tutorial-corrected")
    x, w = example.x, example.matrices
    q, k, v = x @ w["w_q"].T, x @ w["w_k"].T, x @ w["w_v"].T
    e = np.exp(q @ k.T / np.sqrt(3))
    a = e / e.sum(1, keepdims=True)
    trace = compute(example)
    np.testing.assert_allclose(trace.value("weights"), a, rtol=1e-14)
    np.testing.assert_allclose(trace.value("context"), a @ v, rtol=1e-14)


def test_tolerance_replaces_the_rule() -> None:
    claims = {"scores[0]": [Decimal("0.5"), Decimal("0.5"), Decimal("0.5")]}
    strict = check(tutorial(claims=claims, tolerance=0.001))
    assert [w.index for w in strict.wrong] == [(0, 0), (0, 1), (0, 2)]
    lax = check(tutorial(claims=claims, tolerance=0.35))
    assert lax.wrong == []


def test_enormous_claims_are_wrong_and_no_accident() -> None:
    huge, zero = Decimal("1e308"), Decimal("0e999")
    report = check(tutorial(claims={"queries": [[huge]] * 3, "keys": [[huge]] * 3,
                                    "scores[0]": [huge] * 3, "values[0][0]": zero}))  # fmt: skip
    assert {w.step for w in report.wrong} == {"queries", "keys", "scores"}


def test_a_word_that_may_attend_to_nothing_has_no_weights_to_sum() -> None:
    mask = np.array([[True, True], [False, False]])
    claims = {"weights": [[Decimal("0.7311"), Decimal("0.2689")], [0, 0]], "context[1]": [0, 0]}
    example = Example("simple", ["a", "b"], {"x": np.eye(2)}, mask={"matrix": mask}, claims=claims)
    report = check(example)
    assert report.wrong == []
    assert report.remarks == []


def test_a_dictionary_of_python_numbers_and_arrays() -> None:
    scores = np.array([[112.0, 96.0]])
    claims = {"scaled": [[14, 12]], "weights": [(0.88, 0.12)]}
    result = regard.check({"scores": scores, "d_k": 64, "claims": claims})
    assert (result.ok, result.right, result.wrong, result.remarks) == (True, 4, [], [])
    mine = torch.tensor([[0.5, 0.5]], dtype=torch.float64)
    result = regard.check({"scores": [[0.001, 0.0]], "d_k": 1.0, "claims": {"weights": mine}})
    assert not result.ok, "an array was computed: 0.5 is not meant as rounded to one digit"
    assert len(result.wrong) == 2
    result = regard.check({"scores": [[0.001, 0.0]], "d_k": 1.0, "claims": {"weights": mine},
                           "tolerance": 0.001})  # fmt: skip
    assert result.ok
    with pytest.raises(regard.RegardError, match="x is missing: a list of rows of numbers"):
        regard.check({})


def test_a_file_or_a_name() -> None:
    assert regard.check("tutorial-corrected").right == 63


@pytest.mark.parametrize("variant", variants(), ids=called)
def test_of_every_mechanism_the_one_wrong_number_is_named(variant: Variant) -> None:
    """benchmarks/check.py does this with every number."""
    example, rng = generated(variant, 11), np.random.default_rng(11)
    claims = numbers_of(example)
    report = check(replace(example, claims=claims))
    assert report.ok
    among = places(claims)
    for place in rng.choice(len(among), 2, replace=False):
        step, index = among[place]
        (wrong,) = check(replace(example, claims=with_one_wrong(claims, step, index, 0.3))).wrong
        assert (wrong.step, wrong.index, wrong.carried) == (step, index, False)
        assert wrong.correct == report.trace.value(step)[index]
