"""Samples of every design: their worth, their chance, their frequencies."""

from __future__ import annotations

import math
from collections import Counter

import pytest
import torch

from regard.errors import TrainingError
from regard.models.sampling import Sampling
from regard.models.translators.beam import translate_batch
from regard.models.translators.config import MODELS
from regard.models.translators.sample import sample_batch
from regard.pieces.tokenizer import BOS, EOS
from tests.models.batch import batch, model

EVERY = pytest.mark.parametrize("name", MODELS)


@EVERY
def test_a_sample_is_worth_what_its_tokens_are(name: str) -> None:
    made, b = model(name), batch()
    found = sample_batch(
        made, b.source, b.source_lengths, Sampling(1.3, 0.9, 2), samples=2, length_penalty=0.5
    )
    assert [len(each) for each in found] == [2] * 4
    for row, each in enumerate(found):
        n = int(b.source_lengths[row])
        for got in each:
            ids = got.ids + [EOS] * got.finished
            target = torch.tensor([[BOS, *ids[:-1]]])
            logits = made(b.source[row : row + 1, :n], b.source_lengths[row : row + 1], target)
            each_p = logits[0].log_softmax(-1)[torch.arange(len(ids)), torch.tensor(ids)]
            assert got.score == pytest.approx(each_p.sum().item() / len(ids) ** 0.5, abs=1e-9)
            if name != "encoder-decoder":
                assert got.weights is not None
                assert got.weights.shape == (len(ids), n)


@EVERY
def test_others_in_the_batch_change_nothing(name: str) -> None:
    made, b = model(name).train(), batch()
    how = Sampling(seed=3)
    together = sample_batch(made, b.source, b.source_lengths, how, samples=2)
    for row in (0, 2):
        n = int(b.source_lengths[row])
        alone = sample_batch(
            made,
            b.source[row : row + 1, :n],
            b.source_lengths[row : row + 1],
            how,
            numbers=[row],
            samples=2,
        )[0]
        assert [h.ids for h in alone] == [h.ids for h in together[row]]
    assert made.training


def test_almost_no_chance_is_greedy() -> None:
    made, b = model("transformer"), batch()
    greedy = translate_batch(made, b.source, b.source_lengths)
    for how in (Sampling(top_p=1e-6), Sampling(temperature=1e-4)):
        found = sample_batch(made, b.source, b.source_lengths, how)
        assert [each[0].ids for each in found] == [h.ids for h in greedy]


def test_frequencies_are_the_models_probabilities() -> None:
    """A model that says token 4 with p = 0.6 and the end with 0.4, whatever came before."""
    made = model("encoder-decoder", 5)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.zero_()
        made.vocabulary.bias.fill_(-math.inf)
        made.vocabulary.bias[4], made.vocabulary.bias[EOS] = math.log(0.6), math.log(0.4)
    source, lengths = torch.tensor([[EOS]]), torch.tensor([1])
    (found,) = sample_batch(made, source, lengths, Sampling(), samples=2000, max_length=3)
    seen = Counter((len(h.ids), h.finished) for h in found)
    expected = {(0, True): 0.4, (1, True): 0.24, (2, True): 0.144, (3, False): 0.216}
    assert seen.keys() == expected.keys()
    for end, share in expected.items():  # within four standard deviations
        assert seen[end] / 2000 == pytest.approx(share, abs=4 * (share * (1 - share) / 2000) ** 0.5)


def test_damaged_weights_are_told() -> None:
    made, b = model("bahdanau"), batch()
    with torch.no_grad():
        made.vocabulary.bias[7] = math.nan
    with pytest.raises(TrainingError, match=r"got NaN .* go back to an earlier checkpoint"):
        sample_batch(made, b.source, b.source_lengths, Sampling())
