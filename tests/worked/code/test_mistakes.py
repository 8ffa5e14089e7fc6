"""What each mistake gives, against the functions that really make it."""

from __future__ import annotations

import numpy as np

from regard.worked.code.cases import PLANS, make
from regard.worked.code.mistakes import mistakes
from tests.worked.code import wrong_numpy

QKV = ("queries", "keys", "values")


def results(name: str, plan: str, pairs: bool = False) -> list[np.ndarray]:
    number = [p.name for p in PLANS].index(plan)
    case = make(PLANS[number], "scaled", QKV, {}, 1, number)
    return [m.result for m in mistakes(case, pairs) if m.name == name]


def given(plan: str) -> list[np.ndarray]:
    number = [p.name for p in PLANS].index(plan)
    case = make(PLANS[number], "scaled", QKV, {}, 1, number)
    arrays = [case.given[key] for key in QKV]
    return arrays if case.mask is None else [*arrays, case.mask]


def test_a_slip_is_carried_to_the_result() -> None:
    for plan in ("two words", "batch and head axes"):
        (made,) = results("divided by d_k", plan)[:1]
        assert np.allclose(made, wrong_numpy.by_d_k(*given(plan)))


def test_mistakes_that_only_code_makes() -> None:
    plan = "a mask for each sentence, heads"
    assert any(
        np.allclose(made, wrong_numpy.mask_inverted(*given(plan)))
        for made in results("mask inverted", plan)
    )
    (made,) = {m.tobytes(): m for m in results("mask added", plan)}.values()
    assert np.allclose(made, wrong_numpy.mask_added(*given(plan)))
    plan = "a batch axis"
    assert np.allclose(results("axis 0", plan)[0], wrong_numpy.over_axis_zero(*given(plan)))


def test_two_at_once() -> None:
    q, k, v = given("two words")
    expected = wrong_numpy.softmax(q @ k.T / k.shape[-1], axis=-2) @ v
    (made,) = results("divided by d_k, wrong axis", "two words", pairs=True)[:1]
    assert np.allclose(made, expected)


def test_only_those_that_are_asked_for() -> None:
    case = make(PLANS[0], "scaled", QKV, {}, 1, 0)
    asked = next(m.identity for m in mistakes(case) if m.name == "not scaled")
    assert {m.identity for m in mistakes(case, only=[asked])} == {asked}
