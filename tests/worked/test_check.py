"""A worked example's claims against the computation: numbers, order, and misunderstandings."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ExampleError
from regard.worked.check import check
from regard.worked.claims import allowance
from regard.worked.example import Example, compute
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
        ({"score": 1}, "claims.score: no step is called 'score'; this mechanism has input, quer"),
        ({"score": 1}, "weighted_values, context; did you mean 'scores'?"),
        ({"scores[7]": [1]}, "scores has the shape 3 x 3, counted from 0"),
        ({"scores[0][0][0]": 1}, "scores has the shape 3 x 3, counted from 0"),
        ({"scores[0]": [1, 2]}, "scores[0] must be a list of 3 numbers, got a list of 2 numbers"),
        ({"scores[0]": 1}, "must be a list of 3 numbers, got one number"),
        ({"scores[0]": "x"}, "must be a list of 3 numbers, got 'x'"),
        ({"scores": [1, 2, 3]}, "claims.scores must be 3 x 3, got a list of 3 numbers"),
        ({"scores": [[1, 2, 3]]}, "claims.scores must be 3 x 3, got 1 x 3"),
        ({"scores": [[1, 2], [3]]}, "claims.scores must be 3 x 3, got rows of different lengths"),
        ({"scores[0][0]": [1]}, "must be one number, got a list of 1 number"),
        ({"scores[0][0]": []}, "must be one number, got a list of 0 numbers"),
        ({"scores[0][0]": "x"}, "claims.scores[0][0] must be a number, got 'x'"),
        ({"scores[0][0]": True}, "claims.scores[0][0] must be a number, got true"),
        ({"scores[0][0]": Decimal("nan")}, "must be finite, at most 1.8e+308, got NaN"),
        ({"scores[0][0]": 10**400}, "at most 1.8e+308, got a whole number of more than 20 digits"),
        ({"queries": [1, 2, 3]}, "must be 3 x 1, got a list of 3 numbers; a column of single num"),
        ({"queries": [1, 2, 3]}, "a column of single numbers is written [[0.8], [1.0], …]"),
        ({f"scores[{'9' * 5000}]": 1}, "a claim is a step's name or an indexed part of it"),
        (
            {"scores": [[1] * 3] * 3, "scores[0]": [1] * 3},
            "claims.scores[0] claims numbers that claims.scores claims too: drop one of them",
        ),
        (
            {"scores[0][1]": 1, "scores[0, 1]": 2},
            "claims.scores[0, 1] claims numbers that claims.scores[0][1] claims too",
        ),
        ({"scores[a]": 1}, "a claim is a step's name or an indexed part of it"),
    ],
)
def test_claims_that_cannot_be_understood(claims: dict[str, object], text: str) -> None:
    with pytest.raises(ExampleError) as error:
        check(tutorial(claims=claims))
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("lines", "line", "text"),
    [
        ('"scores[0]" = [1, 2]\nscore = 3', 4, "claims.score: no step is called 'score'"),
        ('# scores = 1\n\n"scores[0]" = [1]', 5, "must be a list of 2 numbers, got a list of 1 n"),
        ("scores = [[1, 2], [3, 4]]\n'scores[1]' = [3, 4]", 4, "claims.scores[1] claims numbers"),
        ("positions = 'sinusoidal'", 3, "no step is called 'positions'"),
        ("", 2, "nothing is claimed: add a [claims] table"),
    ],
)
def test_a_wrong_claim_is_found_in_the_file(
    tmp_path: Path, lines: str, line: int, text: str
) -> None:
    file = tmp_path / "worked.toml"
    file.write_text(f"x = [[1, 0], [0, 1]]\n[claims]\n{lines}\n", encoding="utf-8")
    with pytest.raises(ExampleError) as error:
        check(Example.load(file))
    assert str(error.value).startswith(f"{str(file)!r}, line {line}: ")
    assert text in str(error.value)


def test_claims_need_no_header_and_may_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "worked.toml"
    file.write_text('x = [[1]]\nclaims."scores[9]" = 1\n', encoding="utf-8")
    with pytest.raises(ExampleError, match=r"worked\.toml', line 2: claims\.scores\[9\]: "):
        check(Example.load(file))
    file.write_text("x = [[1]]\nclaims = { score = 1 }\n", encoding="utf-8")
    with pytest.raises(ExampleError, match=r"worked\.toml', line 2: claims\.score: "):
        check(Example.load(file))
    file.write_text("x = [[1]]\n", encoding="utf-8")
    with pytest.raises(ExampleError, match=r"worked\.toml': nothing is claimed"):
        check(Example.load(file))


def test_enormous_claims_are_wrong_and_no_accident() -> None:
    huge, zero = Decimal("1e308"), Decimal("0e999")
    report = check(tutorial(claims={"queries": [[huge]] * 3, "keys": [[huge]] * 3,
                                    "scores[0]": [huge] * 3, "values[0][0]": zero}))  # fmt: skip
    assert {w.step for w in report.wrong} == {"queries", "keys", "scores"}


def two_heads(layout: str = "columns-are-outputs", **claims: object) -> Example:
    example = Example.load(EXAMPLES / "two-heads.toml")
    rows = layout == "rows-are-outputs"
    matrices = {n: w.T.copy() if rows else w for n, w in example.matrices.items()}
    changes = {"matrices": matrices, "layout": layout, "claims": claims}
    return Example(**{**vars(example), **changes})  # type: ignore[arg-type]


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
    claims = {"values[1][0]": [3, 0], "output[0]": [5, 0]}
    assert [w.carried for w in check(two_heads(**claims)).wrong] == [False, True]


def test_one_head_carries_from_its_context_to_the_output() -> None:
    x, eye = np.array([[1.0, 2.0]]), np.eye(2)
    matrices = {"w_q": eye, "w_k": eye, "w_v": eye, "w_o": np.array([[1.0], [1.0]])}
    claims = {"context[0][0]": 5, "output[0][0]": 7}
    example = Example("scaled", ["a"], x, matrices, claims=claims)
    assert [w.carried for w in check(example).wrong] == [False, True]
    assert working(example, compute(example), "output", (0, 0)) == (
        "y_1: c_1 · column 1 of W_O = 1·1 + 2·1 = 3"
    )


def test_the_working_of_the_last_steps() -> None:
    for layout, line in (("columns-are-outputs", "column"), ("rows-are-outputs", "row")):
        example = two_heads(layout)
        trace = compute(example)
        assert working(example, trace, "weighted_values", (1, 0, 0, 1)) == (
            "weights[1][0][0] · values[1][0][1] = 1·0 = 0"
        )
        assert working(example, trace, "concatenated", (0, 2)) == "context[1][0][0] = 2"
        assert working(example, trace, "output", (0, 0)) == (
            f"y_1: c_1 · {line} 1 of W_O = 2·1 + 2·1 = 4"
        )


def test_a_word_that_may_attend_to_nothing_has_no_weights_to_sum() -> None:
    mask = np.array([[True, True], [False, False]])
    claims = {"weights": [[Decimal("0.7311"), Decimal("0.2689")], [0, 0]], "context[1]": [0, 0]}
    example = Example("simple", ["a", "b"], np.eye(2), mask=mask, claims=claims)
    report = check(example)
    assert report.wrong == []
    assert report.remarks == []


def test_a_layout_that_nobody_named_is_remarked_where_another_fits() -> None:
    content = {"x": [[1, 2], [3, 4]], "claims": {"scores[0][0]": 1}}
    content |= {key: [[1, 2], [0, 1]] for key in ("w_q", "w_k", "w_v")}
    assert check(Example.from_dict(content)).remarks == [
        "The matrices fit two layouts and the file names none: read as columns-are-outputs "
        '(Q = X W); if your rows are outputs, as in PyTorch, add layout = "rows-are-outputs".'
    ]
    named = {**content, "layout": "columns-are-outputs"}
    assert check(Example.from_dict(named)).remarks == []
    only_one_fits = {**content, "w_v": [[1], [0]]}
    assert check(Example.from_dict(only_one_fits)).remarks == []
    symmetric = {**content, **{key: [[1, 2], [2, 1]] for key in ("w_q", "w_k", "w_v")}}
    assert check(Example.from_dict(symmetric)).remarks == [], "both readings give the same"


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
