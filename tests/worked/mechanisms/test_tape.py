"""Tape: a number that follows from a wrong one, across words, is told from one that is wrong."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from regard.worked.check import check
from regard.worked.consequence import Consequences
from regard.worked.stages import compute
from tests.worked.cases import generated, written


def test_what_follows_across_words_is_carried() -> None:
    example = generated(("lstmn", {}), 5)
    trace = compute(example)
    states = np.array(trace.value("states"))
    states[0, 0] += 0.25
    claims = {"states": written(states)}
    early = replace(example, claims={**claims, "states": written(states[:1].tolist() * 3)})
    partly = check(replace(example, claims={"states[0]": written(states[0])}))
    assert [(w.index, w.carried) for w in partly.wrong] == [((0, 0), False)]
    follows = Consequences(early, trace, partly.claims).of("states")
    assert follows is not None
    assert np.abs(follows[1:] - trace.value("states")[1:]).max() > 1e-3
    states[1:] = follows[1:]
    report = check(replace(example, claims={"states": written(states)}))
    found = {w.index: w.carried for w in report.wrong}
    assert found.pop((0, 0)) is False
    assert found
    assert all(found.values())


def test_a_row_of_the_whole_is_a_claim_about_the_word() -> None:
    example = generated(("lstmn", {}), 6)
    trace = compute(example)
    weights = trace.value("attention")
    assert weights.shape == (3, 3)
    claims = {"attention": written(weights), "step 3/weights": written(weights[2, :2])}
    assert check(replace(example, claims=claims)).ok
