from __future__ import annotations

import itertools
import math

import pytest
import torch

from regard.errors import ConfigError, TrainingError
from regard.models.translators.base import Hypothesis, Translator
from regard.models.translators.beam import hypotheses, translate_batch
from regard.models.translators.config import MODELS
from regard.pieces.tokenizer import BOS, EOS, UNK
from tests.models.batch import VOCABULARY, batch, model

EVERY = pytest.mark.parametrize("name", MODELS)


def lively(name: str, vocabulary: int = VOCABULARY) -> Translator:
    """Weights large enough for the model to have opinions, EOS among them."""
    made = model(name, vocabulary)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.mul_(2.5 if name.startswith("lstmn") else 1.7)
        made.vocabulary.bias[EOS] += 1
    return made


def log_p(made: Translator, source: torch.Tensor, ids: list[int]) -> torch.Tensor:
    """log p of each token of ``ids``, by forward() alone: no cache."""
    target = torch.tensor([[BOS, *ids[:-1]]])
    logits = made(source.unsqueeze(0), torch.tensor([len(source)]), target)
    each: torch.Tensor = logits[0].log_softmax(-1)[torch.arange(len(ids)), torch.tensor(ids)]
    return each


def ranked(
    made: Translator, source: torch.Tensor, alpha: float, longest: int
) -> list[tuple[float, list[int]]]:
    """All sequences that end within ``longest`` tokens, the best first."""
    words = [UNK, *range(4, made.config.vocabulary)]
    every = ([*ids, EOS] for n in range(longest) for ids in itertools.product(words, repeat=n))
    scored = ((log_p(made, source, ids).sum().item() / len(ids) ** alpha, ids) for ids in every)
    return sorted(scored, reverse=True)


@EVERY
@pytest.mark.parametrize("alpha", [0.0, 1.0, 2.0])
def test_a_wide_beam_equals_exhaustive_search(name: str, alpha: float) -> None:
    made = lively(name, 6)
    source, lengths = torch.tensor([[4, 5, 4, 3], [5, 3, 0, 0]]), torch.tensor([4, 2])
    with torch.no_grad():
        found = translate_batch(
            made, source, lengths, beam=6**4, length_penalty=alpha, max_length=4
        )
        for row, got in enumerate(found):
            score, ids = ranked(made, source[row, : lengths[row]], alpha, 4)[0]
            assert [*got.ids, EOS] == ids
            assert got.score == pytest.approx(score, abs=1e-9)
            assert got.finished


@EVERY
@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_the_n_best_of_a_wide_beam_are_those_of_exhaustive_search(name: str, alpha: float) -> None:
    made = lively(name, 6)
    source, lengths = torch.tensor([[4, 5, 4, 3], [5, 3, 0, 0]]), torch.tensor([4, 2])
    with torch.no_grad():
        found = hypotheses(
            made, source, lengths, beam=6**4, best=5, length_penalty=alpha, max_length=4
        )
        for row, got in enumerate(found):
            every = ranked(made, source[row, : lengths[row]], alpha, 4)
            possible = [(score, ids) for score, ids in every if score > -math.inf][:5]
            assert [[*h.ids, EOS] for h in got] == [ids for _, ids in possible]
            assert [h.score for h in got] == pytest.approx([score for score, _ in possible])


def test_too_few_finished_ones_are_followed_by_unfinished_ones() -> None:
    made = model("encoder-decoder", 6)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.zero_()
        made.vocabulary.bias[[UNK, 4, 5, EOS]] = torch.tensor([2.0, 1.0, 0.0, -3.0]).double()
    source, lengths = torch.tensor([[EOS]]), torch.tensor([1])
    (found,) = hypotheses(made, source, lengths, beam=4, best=4, max_length=1)
    assert [h.finished for h in found] == [True, False, False, False]
    assert [h.ids for h in found] == [[], [UNK], [4], [5]]
    assert found[0].score < found[1].score, "an end that was said stands before one that was not"


@EVERY
def test_greedy_takes_the_likeliest_token_without_a_cache_too(name: str) -> None:
    made, b = lively(name), batch()
    for row, got in enumerate(translate_batch(made, b.source, b.source_lengths)):
        source = b.source[row, : b.source_lengths[row]]
        ids: list[int] = []
        while len(ids) < 2 * len(source) + 10 and EOS not in ids:
            target = torch.tensor([[BOS, *ids]])
            logits = made(source.unsqueeze(0), torch.tensor([len(source)]), target)[0, -1]
            logits[[0, BOS]] = -math.inf
            ids.append(int(logits.argmax()))
        assert got.ids == [i for i in ids if i != EOS]
        assert got.finished == (EOS in ids)
        expected = log_p(made, source, ids).sum().item() / len(ids)
        assert got.score == pytest.approx(expected, abs=1e-9)


@EVERY
@pytest.mark.parametrize("beam", [2, 5])
def test_a_beams_score_is_that_of_its_tokens(name: str, beam: int) -> None:
    made, b = lively(name), batch()
    greedy = translate_batch(made, b.source, b.source_lengths, max_length=9)
    for row, got in enumerate(
        translate_batch(made, b.source, b.source_lengths, beam=beam, max_length=9)
    ):
        ids = got.ids + [EOS] * got.finished
        source = b.source[row, : b.source_lengths[row]]
        expected = log_p(made, source, ids).sum().item() / len(ids)
        assert got.score == pytest.approx(expected, abs=1e-9)
        if greedy[row].finished:
            assert got.finished


def same(one: Hypothesis, other: Hypothesis) -> bool:
    weights = (one.weights is None) == (other.weights is None)
    if one.weights is not None and other.weights is not None:
        weights = torch.allclose(one.weights, other.weights, rtol=0, atol=1e-9)
    return (one.ids, one.finished) == (other.ids, other.finished) and weights


@EVERY
@pytest.mark.parametrize("beam", [1, 4])
def test_batch_size_and_order_change_nothing(name: str, beam: int) -> None:
    made = lively(name)
    generator = torch.Generator().manual_seed(3)
    lengths = torch.randint(1, 9, (64,), generator=generator)
    b = batch(tuple(lengths.tolist()), (2,) * 64)
    together = translate_batch(made, b.source, lengths, beam=beam)
    order = torch.randperm(64, generator=generator)
    shuffled = translate_batch(made, b.source[order], lengths[order], beam=beam)
    assert all(same(together[i], shuffled[n]) for n, i in enumerate(order.tolist()))
    for row in range(0, 64, 3):
        n = int(lengths[row])
        alone = translate_batch(
            made, b.source[row : row + 1, :n], lengths[row : row + 1], beam=beam
        )
        assert same(together[row], alone[0])
    assert len({len(h.ids) for h in together}) > 2  # they left the batch at different times


@EVERY
def test_weights_are_those_of_each_token_and_of_eos(name: str) -> None:
    made, b = lively(name), batch()
    for row, got in enumerate(translate_batch(made, b.source, b.source_lengths, beam=3)):
        if name == "encoder-decoder":
            assert got.weights is None
            continue
        n = int(b.source_lengths[row])
        assert got.weights is not None
        assert got.weights.shape == (len(got.ids) + got.finished, n)
        state = made.start(b.source[row : row + 1, :n], b.source_lengths[row : row + 1])
        for token, looked in zip([BOS, *got.ids], got.weights, strict=False):
            step = made.step(state, torch.tensor([token]))
            assert step.weights is not None
            expected = step.weights[0]
            torch.testing.assert_close(looked, expected, rtol=0, atol=1e-9)


def test_a_transformers_layer_and_head_can_be_chosen() -> None:
    made, b = lively("transformer"), batch()

    def looked(**choice: int) -> torch.Tensor:
        weights = translate_batch(made, b.source, b.source_lengths, **choice)[0].weights
        assert weights is not None
        return weights

    default = looked()
    torch.testing.assert_close((looked(head=0) + looked(head=1)) / 2, default)
    assert not torch.allclose(looked(layer=0), default)


@EVERY
def test_a_hypothesis_that_never_ends_is_cut_and_says_so(name: str) -> None:
    made, b = model(name), batch()
    with torch.no_grad():
        made.vocabulary.bias[EOS] = -1e4
    for beam in (1, 3):
        for row, got in enumerate(
            translate_batch(made, b.source, b.source_lengths, beam=beam, max_length=7)
        ):
            n = int(b.source_lengths[row])
            if name == "word-by-word":  # behind its source it can only end
                assert (len(got.ids), got.finished) == (n, True)
            else:
                assert (len(got.ids), got.finished) == (7, False)
    if name != "word-by-word":
        cut = translate_batch(made, b.source, b.source_lengths)
        assert [len(h.ids) for h in cut] == [2 * n + 10 for n in b.source_lengths.tolist()]


def test_the_length_penalty_computed_by_hand() -> None:
    """A model that always says token 4 with p = 0.6 and EOS with 0.4.

    Without the penalty the empty translation is the best, ln 0.4 > ln 0.6 + ln 0.4; divided by
    the length, the longest one is.
    """
    made = model("encoder-decoder", 5)
    with torch.no_grad():
        for parameter in made.parameters():
            parameter.zero_()
        made.vocabulary.bias.fill_(-math.inf)
        made.vocabulary.bias[4], made.vocabulary.bias[EOS] = math.log(0.6), math.log(0.4)
    source, lengths = torch.tensor([[EOS]]), torch.tensor([1])
    for alpha, ids in ((0.0, []), (1.0, [4, 4])):
        (got,) = translate_batch(made, source, lengths, beam=4, length_penalty=alpha, max_length=3)
        assert got.ids == ids
        total = len(ids) * math.log(0.6) + math.log(0.4)
        assert got.score == pytest.approx(total / (len(ids) + 1) ** alpha, abs=1e-12)


def test_a_model_in_training_is_left_in_training() -> None:
    made, b = model("transformer", dropout=0.5).train(), batch()
    first, second = (translate_batch(made, b.source, b.source_lengths) for _ in range(2))
    assert all(same(one, other) for one, other in zip(first, second, strict=True))
    assert made.training


def test_settings_that_make_no_search_are_told_at_once() -> None:
    made, b = model("bahdanau"), batch()
    with pytest.raises(ConfigError) as caught:
        translate_batch(made, b.source, b.source_lengths, beam=0, length_penalty=-1.0, max_length=0)
    assert str(caught.value) == (
        "beam must be at least 1, got 0; length_penalty must be 0 or more, got -1.0; "
        "max_length must be at least 1, got 0"
    )
    with pytest.raises(ConfigError, match=r"^best must be from 1 to beam, got 3 of 2$"):
        hypotheses(made, b.source, b.source_lengths, beam=2, best=3)


@EVERY
def test_damaged_weights_are_told(name: str) -> None:
    made, b = model(name).train(), batch()
    with torch.no_grad():
        made.vocabulary.bias[7] = math.nan
    with pytest.raises(TrainingError, match=r"got NaN .* go back to an earlier checkpoint"):
        translate_batch(made, b.source, b.source_lengths, beam=2)
    assert made.training
