"""From scores to what is predicted, and its two steps."""

from __future__ import annotations

import numpy as np
import pytest

from regard.inside.explain.stepending import EndingRequest, predicted, prediction_steps
from tests.inside.explain.steps import judge_of, reader_of


def test_the_likeliest_words_and_their_shares() -> None:
    model = reader_of("lstmn")
    scores = np.zeros(7)
    scores[5], scores[3] = np.log(4), np.log(2)
    found = predicted(model, scores, EndingRequest(top=2))
    assert [one.id for one in found.predictions] == [5, 3]
    assert [one.probability for one in found.predictions] == pytest.approx([4 / 11, 2 / 11])
    logits, shares = prediction_steps(found, "r_t")
    assert logits.value == pytest.approx([np.log(4), np.log(2)])
    assert logits.formula == "z_w = U_w · r_t + b_w"
    assert logits.meaning.endswith("; these are the 2 best of 7.")
    assert shares.value == pytest.approx([4 / 11, 2 / 11])
    assert shares.formula == "p_w = exp(z_w) / sum_v exp(z_v)"


def test_heat_and_labels() -> None:
    found = predicted(judge_of("lstmn"), np.array([0.0, np.log(9)]), EndingRequest(2.0))
    assert [one.word for one in found.predictions] == ["good", "bad"]
    assert [one.probability for one in found.predictions] == pytest.approx([3 / 4, 1 / 4])
    (_, shares) = prediction_steps(found, "r")
    assert shares.formula == "p_w = exp(z_w / 2) / sum_v exp(z_v / 2)"
    assert shares.meaning == "The scores of all labels become shares of 1."
