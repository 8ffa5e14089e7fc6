"""From outputs to numbers, by hand."""

from __future__ import annotations

import math

import pytest
import torch

from regard.inside.ablate.measure import Cosine, Likelihood, rank_correlation


def logits(*shares: float) -> torch.Tensor:
    return torch.tensor(shares).log().view(1, 1, -1)


def test_probability_and_divergence_by_hand() -> None:
    measured = Likelihood(logits(0.5, 0.25, 0.25), [0], "probability")
    assert measured.base == pytest.approx(0.5)
    changed = logits(0.25, 0.25, 0.5)
    assert measured.values(changed).tolist() == pytest.approx([0.25])
    expected = 0.5 * math.log(2) + 0.25 * math.log(0.5)
    assert measured.divergences(changed) == pytest.approx([expected])
    assert measured.divergences(logits(0.5, 0.25, 0.25)) == pytest.approx([0.0])


def test_the_log_probability_of_a_text_is_a_sum() -> None:
    steps = torch.cat((logits(0.5, 0.5), logits(0.2, 0.8)), 1)
    measured = Likelihood(steps, [0, 1], "logprob")
    assert measured.base == pytest.approx(math.log(0.5 * 0.8))


def test_cosine_by_hand() -> None:
    measured = Cosine(torch.tensor([[3.0, 4.0]]))
    assert measured.values(torch.tensor([[4.0, 3.0], [-3.0, -4.0]])).tolist() == pytest.approx(
        [24 / 25, -1.0]
    )
    assert measured.divergences(torch.zeros(2, 2)) == [None, None]


def test_rank_correlation() -> None:
    assert rank_correlation([1, 2, 3], [10, 100, 1000]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # ranks 1, 2.5, 2.5, 4 and 1, 2, 3, 4
    assert rank_correlation([0, 5, 5, 9], [1, 2, 3, 4]) == pytest.approx(4.5 / math.sqrt(4.5 * 5))
    assert rank_correlation([1, 2], [1, 2]) is None
    assert rank_correlation([1, 1, 1], [1, 2, 3]) is None


def test_a_word_that_was_impossible_counts_nothing_and_no_number_is_none() -> None:
    measured = Likelihood(torch.tensor([[[1.0, 2.0, -math.inf]]]), [0], "logprob")
    possible = Likelihood(torch.tensor([[[1.0, 2.0]]]), [0], "logprob")
    after = torch.tensor([[[5.0, -3.0, -math.inf]]])
    assert measured.divergences(after) == pytest.approx(possible.divergences(after[..., :2]))
    assert measured.divergences(torch.full((1, 1, 3), math.nan)) == [None]
