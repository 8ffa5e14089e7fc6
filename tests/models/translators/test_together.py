"""Several translators together: what each proposes is judged by all."""

from __future__ import annotations

import math

import pytest
import torch

from regard.models.translators.base import Translator
from regard.models.translators.config import MODELS
from regard.models.translators.together import judge, judged_texts
from regard.models.translators.translation import n_best_texts
from regard.pieces.tokenizer import BOS, EOS, Tokenizer
from regard.store.shipped import find_translator
from tests.models.batch import model as make

TEXTS = ["the cat sat", "a dog and a cat sat on the mat", "", "the mat", "dog dog dog"]
WORDS = Tokenizer.train(TEXTS * 3, 60, "word")
PIECES = Tokenizer.train(TEXTS * 3, 37)
"""A vocabulary of another kind."""


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest) -> Translator:
    return make(request.param, vocabulary=len(WORDS)).eval()


@torch.no_grad()
def by_hand(model: Translator, tokens: Tokenizer, source: str, target: str) -> float:
    """log p of one pair, a token after the other."""
    read, said = [*tokens.encode(source), EOS], [BOS, *tokens.encode(target), EOS]
    total = 0.0
    for t in range(1, len(said)):
        given = torch.tensor([read]), torch.tensor([len(read)]), torch.tensor([said[:t]])
        total += float(model(*given)[0, -1].double().log_softmax(-1)[said[t]])
    return total


@pytest.mark.parametrize("penalty", [0.0, 0.7, 1.0])
def test_a_score_is_log_p_by_the_length(model: Translator, penalty: float) -> None:
    pairs = [("the cat sat", "dog"), ("the mat", "the mat"), ("dog", ""), ("a dog sat", "a a a a")]
    lengths = [2, 3, 1, 5]
    wanted = [
        by_hand(model, WORDS, *pair) / length**penalty
        for pair, length in zip(pairs, lengths, strict=True)
    ]
    assert judge(model, WORDS, pairs, penalty) == pytest.approx(wanted, rel=1e-4)


def test_nothing_for_nothing(model: Translator) -> None:
    assert judge(model, WORDS, []) == []
    assert judge(model, WORDS, [("", "")]) == [0.0]


@pytest.mark.parametrize("name", ["bahdanau", "transformer"])
def test_the_search_scores_alike(name: str) -> None:
    model, tokens = find_translator(name)
    texts = ["Das ist schade.", "Ich habe ihn gestern gesehen.", "Tom wohnt in Boston."]
    for text, best in zip(texts, n_best_texts(model, tokens, texts, best=3), strict=True):
        scores = judge(model, tokens, [(text, found.text) for found in best])
        assert scores == pytest.approx([found.score for found in best], abs=1e-3)


def test_alone_it_is_the_one_model() -> None:
    speaker, texts = find_translator("bahdanau"), ["Das ist schade.", "", "Ich bin müde."]
    alone = [[one.text for one in best] for best in judged_texts([speaker], texts, best=2)]
    own = [[one.text for one in best] for best in n_best_texts(*speaker, texts, best=5)]
    assert alone == [best[:2] for best in own]


def test_what_a_model_holds_to_be_impossible_is_left_out() -> None:
    """Word by word a target has as many tokens as its source at most."""
    speakers = [(make(name, vocabulary=len(WORDS)).eval(), WORDS) for name in MODELS[:2]]
    proposed = next(iter(n_best_texts(*speakers[1], ["mat"], beam=9, best=9)))
    scores = judge(*speakers[0], [("mat", one.text) for one in proposed])
    assert -math.inf in scores
    (found,) = judged_texts(speakers, ["mat"], beam=9, best=18)
    assert all(math.isfinite(score) for one in found for score in one.scores)
    kept = {one.text for one in found}
    assert not kept & {
        one.text for one, score in zip(proposed, scores, strict=True) if score == -math.inf
    }


def test_all_proposals_are_judged_by_all() -> None:
    speakers = [
        (make("bahdanau", vocabulary=len(WORDS)).eval(), WORDS),
        (make("transformer", vocabulary=len(PIECES)).eval(), PIECES),
    ]
    proposed = [
        [{one.text for one in best} for best in n_best_texts(*speaker, TEXTS, beam=3, best=3)]
        for speaker in speakers
    ]
    found = list(judged_texts(speakers, TEXTS, beam=3, best=100))
    for text, each, *own in zip(TEXTS, found, *proposed, strict=True):
        assert {one.text for one in each} == own[0] | own[1]
        assert [one.score for one in each] == sorted((one.score for one in each), reverse=True)
        for one in each:
            scores = [judge(*speaker, [(text, one.text)])[0] for speaker in speakers]
            assert one.scores == pytest.approx(scores, rel=1e-4)
            assert one.score == pytest.approx(sum(scores) / 2)
            assert math.isfinite(one.score)
    assert found[2][0].text == ""


def test_batches_change_nothing() -> None:
    speakers = [(make(name, vocabulary=len(WORDS)).eval(), WORDS) for name in MODELS[1:3]]
    one, many = (list(judged_texts(speakers, TEXTS, beam=2, best=2, batch=n)) for n in (1, 64))
    for a, b in zip(one, many, strict=True):
        assert [x.text for x in a] == [x.text for x in b]
        assert [x.score for x in a] == pytest.approx([x.score for x in b], rel=1e-4)
