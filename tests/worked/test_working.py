"""The arithmetic of one number, written out."""

from __future__ import annotations

from regard.worked.example import Example
from regard.worked.stages import compute
from regard.worked.working import working
from tests.worked.cases import generated
from tests.worked.examples import tutorial, two_heads


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
    example = Example.load("two-heads")
    trace = compute(example)
    assert working(example, trace, "queries", (1, 0, 1)) == ("q_1: x_1 · column 4 of W_Q = 2·1 = 2")
    assert working(example, trace, "weights", (0, 0, 1)) == "masked: weight 0"


def test_other_mechanisms_are_worked_by_their_formula() -> None:
    example = generated(("simple-rnn", {}), 0)
    trace = compute(example)
    text = working(example, trace, "step 1/state", (0,))
    assert text == f"h_t = tanh(A[x_t; h_{{t-1}}] + b) = {trace.value('states')[0, 0]:.4g}"
