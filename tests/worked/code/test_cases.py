"""The generated cases: what is in them, and that regard's own numbers are right."""

from __future__ import annotations

import numpy as np
import pytest

from regard.worked.code.cases import PLANS, make
from tests.worked.code import right

QKV = ("queries", "keys", "values")


def test_plans_cover_what_they_must() -> None:
    assert len({plan.name for plan in PLANS}) == len(PLANS)
    circumstances = {c for plan in PLANS for c in plan.circumstances}
    assert circumstances == {
        "uneven", "axes", "mask", "empty", "large", "float32", "gradients"
    }  # fmt: skip
    assert {plan.mask for plan in PLANS} == {
        "", "causal", "padding", "window", "any", "each", "empty"
    }  # fmt: skip
    assert {len(plan.lead) for plan in PLANS} == {0, 1, 2}


@pytest.mark.parametrize("seed", range(len(PLANS)), ids=[plan.name for plan in PLANS])
def test_a_case_against_an_implementation_of_its_own(seed: int) -> None:
    case = make(PLANS[seed], "scaled", QKV, {}, 1, seed)
    q, k, v = (case.given[key] for key in QKV)
    context, weights = right.arrays(q, k, v, case.mask)
    assert np.allclose(case.stacked("context"), context)
    assert np.allclose(case.stacked("weights"), weights)
    empty = case.empty
    assert (empty is not None and bool(empty.any())) == (PLANS[seed].mask == "empty")


def test_matrices_and_heads() -> None:
    keys = ("x", "w_q", "w_k", "w_v", "w_o")
    case = make(PLANS[1], "multihead", keys, {}, 2, 1)
    x, w_q, w_k, w_v, w_o = (case.given[key] for key in keys)
    assert np.allclose(case.stacked("output"), right.by_keys(x, w_q, w_k, w_v, w_o, 2))
    assert case.slices[0].last == "output"
