from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from regard.errors import TrainingError
from regard.models.translators.candidates import BLOCK, best_tokens
from regard.pieces.tokenizer import BOS, PAD


def by_sorting(logits: torch.Tensor, scores: torch.Tensor, count: int) -> torch.Tensor:
    """The definition: every total, sorted."""
    totals = logits.double().log_softmax(-1)
    totals[:, [PAD, BOS]] = -math.inf
    totals = totals.view(*scores.shape, -1) + scores.unsqueeze(-1)
    return totals.flatten(1).sort(descending=True).values[:, :count]


@settings(max_examples=60, deadline=None)
@given(
    sentences=st.integers(1, 3),
    beams=st.integers(1, 4),
    size=st.sampled_from([7, 16 * BLOCK, 16 * BLOCK + 5, 33 * BLOCK - 1]),
    count=st.integers(1, 8),
    seed=st.integers(0, 1000),
)
def test_equals_sorting_everything(
    sentences: int, beams: int, size: int, count: int, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)
    count = min(count, beams * (size - 2))
    logits = torch.randn(sentences * beams, size, generator=generator) * 4
    scores = torch.randn(sentences, beams, generator=generator).double()
    expected = by_sorting(logits, scores, count)
    log_p = logits.double().log_softmax(-1).view(sentences, -1)
    totals, places = best_tokens(logits, scores, count)
    torch.testing.assert_close(totals, expected, rtol=0, atol=1e-5)
    again = log_p.gather(1, places) + scores.gather(1, places // size)
    torch.testing.assert_close(totals, again, rtol=0, atol=1e-5)
    assert not torch.isin(places % size, torch.tensor([PAD, BOS])).any()


def test_a_step_computed_by_hand() -> None:
    """Shares 1/8, 2/8, 5/8 of tokens 1, 3 and 4, after hypotheses of log p 0 and −10."""
    row = torch.tensor([-math.inf, math.log(1), -math.inf, math.log(2), math.log(5)])
    totals, places = best_tokens(torch.stack((row, row)), torch.tensor([[0.0, -10.0]]).double(), 4)
    expected = [math.log(5 / 8), math.log(2 / 8), math.log(1 / 8), math.log(5 / 8) - 10]
    assert totals[0].tolist() == pytest.approx(expected, abs=1e-6)
    assert places[0].tolist() == [4, 3, 1, 9]


def test_of_equals_the_first_is_taken() -> None:
    _, places = best_tokens(torch.zeros(1, 9), torch.zeros(1, 1).double(), 1)
    assert places.item() == 1  # 0 is PAD


@pytest.mark.parametrize(
    ("value", "text"),
    [(math.nan, "got NaN"), (math.inf, r"got \+inf"), (-math.inf, "got -inf for every token")],
)
def test_scores_that_are_no_numbers_are_told(value: float, text: str) -> None:
    logits = torch.zeros(2, 9)
    logits[1] = value
    with pytest.raises(TrainingError, match=f"{text}.*: its weights are damaged"):
        best_tokens(logits, torch.zeros(2, 1).double(), 1)
