"""One case: what is wrong with an answer."""

from __future__ import annotations

import numpy as np

from regard.worked.code.candidate import Answer
from regard.worked.code.cases import PLANS, Case, make
from regard.worked.code.trial import Trial, try_answer

QKV = ("queries", "keys", "values")


def case_of(name: str) -> Case:
    number = [plan.name for plan in PLANS].index(name)
    return make(PLANS[number], "scaled", QKV, {}, 1, number)


def fault_of(case: Case, result: np.ndarray) -> str:
    return try_answer(case, Answer(result), {})[0].fault


def test_kinds_of_faults() -> None:
    case = case_of("two words")
    right = case.stacked("context")
    assert fault_of(case, right) == ""
    assert fault_of(case, right + 1e-8) == ""
    assert fault_of(case, right + 1e-3) == "numbers"
    assert fault_of(case, right.T[:1]) == "shape"
    assert try_answer(case, Answer(error="no"), {})[0].fault == "error"
    assert try_answer(case, Answer(right, changed=("keys",)), {})[0].fault == "changed"
    weights = case.stacked("weights")
    assert try_answer(case, Answer(right, weights), {})[0].fault == ""
    assert try_answer(case, Answer(right, weights / 2), {})[0].fault == "weights"


def test_rows_that_may_attend_to_nothing() -> None:
    case = case_of("a row that may attend to nothing")
    right = case.stacked("context")
    assert not right[1].any()
    spoilt = right.copy()
    spoilt[1] = np.nan
    assert fault_of(case, spoilt) == "empty"
    spoilt[1] = case.given["values"].mean(0)
    trial, remarks = try_answer(case, Answer(spoilt), {})
    assert trial.fault == ""
    assert "gets equal weights" in remarks[0]
    spoilt[0] += 1
    assert fault_of(case, spoilt) == "numbers"


def test_large_scores() -> None:
    case = case_of("large scores")
    spoilt = np.full_like(case.stacked("context"), np.nan)
    assert fault_of(case, spoilt) == "overflow"


def test_the_worked_example_is_of_the_slice_that_is_wrong() -> None:
    case = case_of("a batch axis")
    result = case.stacked("context").copy()
    result[1, 0, 0] += 1
    content = Trial(case, Answer(result), "numbers").example()
    assert content is not None
    assert content["queries"] == case.given["queries"][1].tolist()
    assert np.allclose(content["claims"]["context"], result[1], atol=1e-6)
    result[1, 0, 0] = np.nan
    content = Trial(case, Answer(result), "numbers").example()
    assert content is not None
    assert list(content["claims"]) == ["context[1]", "context[2]"]
