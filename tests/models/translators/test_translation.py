"""Sentences through a translator: words and their alignment, order, batches."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from regard.errors import ConfigError, DataError
from regard.models.sampling import Sampling
from regard.models.translators.base import Translator
from regard.models.translators.config import MODELS
from regard.models.translators.translation import (
    Translation,
    n_best_texts,
    trace_of,
    translate_texts,
)
from regard.pieces.tokenizer import Tokenizer
from tests.models.batch import model as make

TEXTS = ["the cat sat", "a dog and a cat sat on the mat .", "", "the mat", "dog dog dog"]


@pytest.fixture(scope="module")
def tokens() -> Tokenizer:
    return Tokenizer.train(TEXTS * 3 + ["die Katze saß auf der Matte ."] * 3, 60)


@pytest.fixture(params=MODELS)
def model(request: pytest.FixtureRequest, tokens: Tokenizer) -> Translator:
    return make(request.param, vocabulary=len(tokens)).eval()


def translations(model: Translator, tokens: Tokenizer, **options: object) -> list[Translation]:
    return list(translate_texts(model, tokens, TEXTS, **options))


def test_each_sentence_keeps_its_place_whatever_the_batch(
    model: Translator, tokens: Tokenizer
) -> None:
    one = translations(model, tokens, batch=1, beam=3)
    many = translations(model, tokens, batch=64, beam=3)
    assert [t.text for t in one] == [t.text for t in many]
    for a, b in zip(one, many, strict=True):
        np.testing.assert_allclose(a.alignment, b.alignment, atol=1e-5)
    assert one[2].text == ""
    assert one[2].source == []


def test_samples_keep_their_place_whatever_the_batch(model: Translator, tokens: Tokenizer) -> None:
    how: dict[str, Any] = {"best": 2, "sampling": Sampling(seed=5)}
    one, many = (list(n_best_texts(model, tokens, TEXTS, batch=n, **how)) for n in (1, 64))
    assert [[t.text for t in each] for each in one] == [[t.text for t in each] for each in many]
    assert [len(each) for each in one] == [2, 2, 1, 2, 2], "an empty sentence has one translation"
    assert one[0][0].text != one[0][1].text


def test_the_best_of_several_is_the_one_translation(model: Translator, tokens: Tokenizer) -> None:
    several = list(n_best_texts(model, tokens, TEXTS, beam=4, best=3))
    assert [each[0].text for each in several] == [
        t.text for t in translations(model, tokens, beam=4)
    ]
    for each in several:
        assert [t.score for t in each] == sorted((t.score for t in each), reverse=True)


def test_rows_of_the_alignment_are_shares(model: Translator, tokens: Tokenizer) -> None:
    for found in translations(model, tokens):
        assert found.alignment.shape == (len(found.target), len(found.source))
        if model.config.model not in ("word-by-word", "encoder-decoder"):
            np.testing.assert_allclose(found.alignment.sum(-1), 1, atol=1e-5)
        if found.source:
            assert found.source[-1] == "</s>"


def test_source_words_of_the_model_are_the_words_of_the_text(
    model: Translator, tokens: Tokenizer
) -> None:
    found = translations(model, tokens)[1]
    assert found.source == ["a", "dog", "and", "a", "cat", "sat", "on", "the", "mat", ".", "</s>"]
    raw = next(iter(translate_texts(model, tokens, TEXTS[1:2], words=False)))
    assert raw.source[0].startswith("▁")


def test_the_trace_has_the_models_steps_and_the_alignment(tokens: Tokenizer) -> None:
    model = make("bahdanau", vocabulary=len(tokens)).eval()
    found = next(iter(translate_texts(model, tokens, TEXTS[:1])))
    trace = trace_of(model, tokens, found)
    assert trace["words"].labels == {"target": found.target, "source": found.source}
    assert any(step.name == "weights" for step in trace)


def test_what_is_unknown_shows_as_it_was_written(tokens: Tokenizer) -> None:
    model = make("bahdanau", vocabulary=len(tokens)).eval()
    words, pieces = (
        next(iter(translate_texts(model, tokens, ["a 猫 sat"], words=words)))
        for words in (True, False)
    )
    assert words.source == ["a", "猫", "sat", "</s>"]
    assert "猫" in pieces.source
    assert "<unk>" not in pieces.source
    assert pieces.read.labels == pieces.source
    assert trace_of(model, tokens, words).tokens == pieces.source


def test_a_search_and_a_sentence_have_bounds(tokens: Tokenizer) -> None:
    made = make("bahdanau", vocabulary=len(tokens)).eval()
    with pytest.raises(ConfigError, match="beam may be 100 at most, got 101: time and memory grow"):
        translations(made, tokens, beam=101)
    found = translate_texts(made, tokens, ["the cat", "dog " * 600])
    with pytest.raises(DataError, match=r"may have 512 tokens, number 2 has .* a line"):
        list(found)
