"""Wrong implementations are diagnosed, right ones of every style accepted."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import pytest

import regard
from regard.errors import RegardError
from regard.worked.code.judge import judge
from tests.worked.code import right, wrong_numpy, wrong_torch

WRONG = [
    pytest.param(*case, id=f"{library}-{case[0].__name__}-{i}")
    for library, cases in (("torch", wrong_torch.CASES), ("numpy", wrong_numpy.CASES))
    for i, case in enumerate(cases)
]


def test_there_are_enough_of_them() -> None:
    assert len(WRONG) >= 55
    assert len(right.CASES) >= 15


@pytest.mark.parametrize(("function", "how", "fault", "part"), WRONG)
def test_a_wrong_one_is_diagnosed(function: Any, how: Any, fault: str, part: str) -> None:
    result = judge(function, **{"mechanism": "scaled", **how})
    assert not result.ok
    assert [wrong.name for wrong in result.wrong] == [fault]
    assert part.lower() in result.wrong[0].says.lower()
    assert result.wrong[0].cases


@pytest.mark.parametrize(
    ("function", "how", "least"),
    right.CASES,
    ids=[getattr(case[0], "__name__", f"instance-{i}") for i, case in enumerate(right.CASES)],
)
def test_a_right_one_is_accepted(function: Any, how: Any, least: int) -> None:
    result = judge(function, **{"mechanism": "scaled", **how})
    assert result.ok, result.wrong
    assert result.right >= least


def test_the_smallest_case_is_a_worked_example_that_shows_the_same() -> None:
    fault = regard.check(wrong_numpy.masked_late, mechanism="scaled").wrong[0]
    assert fault.example is not None
    assert len(fault.example["queries"]) == 2
    again = regard.check(fault.example)
    assert {wrong.step for wrong in again.wrong} == {"context"}
    fault = regard.check(wrong_numpy.not_scaled, mechanism="scaled").wrong[0]
    assert fault.example is not None
    told = {wrong.slip for wrong in regard.check(fault.example).wrong if wrong.step == "weights"}
    assert told == {"the scores are not scaled before softmax"}


def test_one_that_does_not_come_back() -> None:
    def endless(query: Any, key: Any, value: Any) -> Any:
        while True:
            time.sleep(0.01)

    result = judge(endless, "scaled", seconds=0.2)
    assert [fault.says for fault in result.wrong] == ["It raises no answer within 0.2 seconds."]


def test_one_that_raises_is_told_where() -> None:
    def broken(query: Any, key: Any, value: Any) -> Any:
        raise ValueError("what now")

    (fault,) = judge(broken, "scaled").wrong
    assert fault.says.startswith("It raises ValueError: what now, line ")


def test_one_with_a_causal_argument_is_tried_with_it() -> None:
    def mine(q: Any, k: Any, v: Any, causal: bool = False) -> Any:
        return wrong_numpy.leaks(q, k, v) if causal else right.arrays(q, k, v)

    (fault,) = judge(mine, "scaled").wrong
    assert (fault.name, fault.cases) == ("leaks the next word", ("causal=True",))
    assert fault.says.startswith("Right without a mask; with one, its numbers")


def test_numbers_that_no_known_mistake_gives() -> None:
    def strange(q: Any, k: Any, v: Any) -> Any:
        return right.arrays(q, k, v)[0] + np.float64(0.01)

    (fault,) = judge(strange, "scaled").wrong
    assert fault.name == "unknown"
    assert "context[0][0] is" in fault.says


def test_weights_alone_may_be_wrong() -> None:
    def mine(q: Any, k: Any, v: Any) -> Any:
        return right.arrays(q, k, v)[0], wrong_numpy.not_scaled(q, k, v)[1]

    (fault,) = judge(mine, "scaled").wrong
    assert fault.says == "Its weights are what you get if the scores are not divided by sqrt(d_k)."


def test_bad_questions() -> None:
    with pytest.raises(RegardError, match="no mechanism is called 'scald'; did you mean 'scaled'"):
        judge(right.arrays, "scald")
    with pytest.raises(RegardError, match="say what it is to compute: mechanism = simple, dot"):
        regard.check(right.arrays)  # type: ignore[call-overload]
    with pytest.raises(RegardError, match="mechanism goes with a function"):
        regard.check({"scores": [[1]]}, mechanism="dot")  # type: ignore[call-overload]


def test_the_result_as_json() -> None:
    result = regard.check(wrong_numpy.overflows, mechanism="scaled")
    content = result.to_dict()
    assert content["right"] == result.right == 10
    assert content["wrong"][0]["fault"] == "overflow"
    assert content["wrong"][0]["cases"] == ["large scores"]
    assert content["remarks"] == result.remarks


def test_matrices_may_be_either_way_round() -> None:
    def rows(x: Any, w_1: Any, b_1: Any, w_2: Any, b_2: Any) -> Any:
        return np.maximum(x @ w_1.T + b_1, 0) @ w_2.T + b_2

    def columns(x: Any, w_1: Any, b_1: Any, w_2: Any, b_2: Any) -> Any:
        return np.maximum(x @ w_1 + b_1, 0) @ w_2 + b_2

    assert judge(rows, "feed-forward").ok
    assert judge(columns, "feed-forward").ok


def test_other_mechanisms_have_their_own_mistakes() -> None:
    def norm(x: Any, gamma: Any, beta: Any) -> Any:
        spread = np.sqrt(x.var(-1, keepdims=True, ddof=1) + 1e-5)
        return gamma * (x - x.mean(-1, keepdims=True)) / spread + beta

    (fault,) = judge(norm, "layer-norm").wrong
    assert "the variance is divided by the count less 1" in fault.says
