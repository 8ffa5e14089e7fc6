"""A worked example's claims against the computation: numbers, order, and misunderstandings."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ExampleError
from regard.worked import Example, check, compute
from regard.worked.check import allowance
from regard.worked.working import working

EXAMPLES = Path(__file__).parents[2] / "examples"


def tutorial(**changes: object) -> Example:
    example = Example.load(EXAMPLES / "tutorial-printed.toml")
    return Example(**{**vars(example), **changes})  # type: ignore[arg-type]


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
    assert sum(report.right.values()) == 10
    assert report.wrong[0].step == "queries", "the first in the order of computation"


def test_errors_that_only_follow_from_earlier_ones_are_told_apart() -> None:
    carried = {(w.step, w.index) for w in check(tutorial()).wrong if w.carried}
    # .48 = .8 * .6 and .24 = .48 / 2 are right arithmetic on a wrong key; the softmax is not.
    assert carried == {("scores", (0, 1)), ("scaled", (0, 1)), ("context", (0, 0))}


def test_the_printed_tutorial_is_told_its_misunderstandings() -> None:
    reading, width, sums = check(tutorial()).remarks
    assert "not self-attention" in reading
    assert "one 3 x 4 map" in reading
    assert "q_1 = [0.8, 0.6, 0.5]" in reading
    assert "d_k = 3" in reading
    assert width.startswith("d_k = 4 is not the width of a key: a key has 1 number here")
    assert sums.startswith("weights[0] sum to 1.7773, not 1")


def test_the_corrected_tutorial_is_right_and_needs_no_remark() -> None:
    report = check(Example.load(EXAMPLES / "tutorial-corrected.toml"))
    assert report.wrong == []
    assert report.remarks == []
    assert sum(report.right.values()) == 63


def test_two_heads_example_is_right() -> None:
    report = check(Example.load(EXAMPLES / "two-heads.toml"))
    assert report.wrong == []
    assert report.trace["weights"].axes == ("head", "query", "key")


def test_the_computation_equals_numpy_float64() -> None:
    example = Example.load(EXAMPLES / "tutorial-corrected.toml")
    x, w = example.x, example.matrices
    q, k, v = x @ w["w_q"].T, x @ w["w_k"].T, x @ w["w_v"].T
    e = np.exp(q @ k.T / np.sqrt(3))
    a = e / e.sum(1, keepdims=True)
    trace = compute(example)
    np.testing.assert_allclose(trace.value("weights"), a, rtol=1e-14)
    np.testing.assert_allclose(trace.value("context"), a @ v, rtol=1e-14)


@pytest.mark.parametrize(
    ("printed", "off"),
    [
        ("0.48", 0.005),
        ("0.40", 0.005),
        ("0.4", 0.05),
        ("0.5987", 0.00005),
        ("12.", 0.5),
        ("1e-3", 5e-4),
    ],
)
def test_a_number_may_be_off_by_half_of_its_last_printed_digit(printed: str, off: float) -> None:
    assert allowance(Decimal(printed)) == pytest.approx(off, abs=2e-9)


def test_a_whole_number_is_meant_exactly() -> None:
    assert allowance(2) < 1e-8


@given(st.integers(0, 5), st.floats(-9, 9))
def test_what_rounds_to_the_claim_is_right(places: int, true: float) -> None:
    claimed = Decimal(f"{true:.{places}f}") if places else Decimal(f"{true:.0f}.")
    assert abs(float(claimed) - true) <= allowance(claimed)


def test_tolerance_replaces_the_rule() -> None:
    claims = {"scores[0]": [Decimal("0.5"), Decimal("0.5"), Decimal("0.5")]}
    strict = check(tutorial(claims=claims, tolerance=0.001))
    assert [w.index for w in strict.wrong] == [(0, 0), (0, 1), (0, 2)]
    lax = check(tutorial(claims=claims, tolerance=0.35))
    assert lax.wrong == []


@pytest.mark.parametrize("key", ["scores[0][1]", "scores[0, 1]", " scores [0] [1] "])
def test_one_number_can_be_claimed(key: str) -> None:
    report = check(tutorial(claims={key: Decimal("0.7")}))
    assert [(w.step, w.index, w.claimed) for w in report.wrong] == [("scores", (0, 1), 0.7)]


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        ({}, "nothing is claimed"),
        ({"score": 1}, "no step is called 'score'; did you mean 'scores'"),
        ({"scores[7]": [1]}, "scores has the shape 3 x 3, counted from 0"),
        ({"scores[0][0][0]": 1}, "scores has the shape 3 x 3, counted from 0"),
        ({"scores[0]": [1, 2]}, "claims.scores[0] must be 3, got 2 numbers where 3 are expected"),
        ({"scores[0]": 1}, "must be 3, got a single number"),
        ({"scores[0][0]": [1]}, "must be one number, got a list"),
        ({"scores[0][0]": "x"}, "must be one number, got 'x'"),
        ({"scores[0][0]": Decimal("nan")}, "must be finite numbers, got NaN"),
        ({"queries": [1, 2, 3]}, "a column of single numbers is written [[0.8], [1.0], …]"),
        ({"scores[a]": 1}, "a claim is a step's name or an indexed part of it"),
    ],
)
def test_claims_that_cannot_be_understood(claims: dict[str, object], text: str) -> None:
    with pytest.raises(ExampleError) as error:
        check(tutorial(claims=claims))
    assert text in str(error.value)


def test_the_working_of_a_number_is_written_out() -> None:
    example = tutorial()
    trace = compute(example)
    assert working(example, trace, "queries", (2, 0)) == (
        "q_3: x_3 · row 3 of W_Q = 1·0.3 + 1·0.1 = 0.4"
    )
    assert working(example, trace, "scores", (0, 1)) == "q_1 · k_2 = 0.8·1 = 0.8"
    assert working(example, trace, "scaled", (0, 1)) == "0.8 / sqrt(4) = 0.4"
    assert working(example, trace, "weights", (0, 1)) == (
        "e^0.4 / (e^0.24 + e^0.4 + e^0.2) = 0.3744"
    )


def test_the_working_of_a_head_uses_its_own_columns() -> None:
    example = Example.load(EXAMPLES / "two-heads.toml")
    trace = compute(example)
    assert working(example, trace, "queries", (1, 0, 1)) == ("q_1: x_1 · column 4 of W_Q = 2·1 = 2")
    assert working(example, trace, "weights", (0, 0, 1)) == "masked: weight 0"


def test_unscaled_attention_is_remarked() -> None:
    example = tutorial(
        mechanism="dot", layout="rows-are-outputs", d_k=None, claims={"scores[0][0]": 1}
    )
    assert any("not divided by sqrt(d_k)" in remark for remark in check(example).remarks)
