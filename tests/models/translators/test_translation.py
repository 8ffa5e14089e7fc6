"""Sentences through a translator: words and their alignment, order, batches."""

from __future__ import annotations

from itertools import chain
from typing import Any

import numpy as np
import pytest
import torch

from regard.errors import ConfigError, DataError
from regard.models.sampling import Sampling
from regard.models.translators.base import Translator
from regard.models.translators.config import MODELS, POINTING
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


@pytest.fixture(params=POINTING)
def pointing(request: pytest.FixtureRequest, tokens: Tokenizer) -> Translator:
    return make(request.param, vocabulary=len(tokens), pointer=True).eval()


def test_a_pointer_says_what_was_copied(pointing: Translator, tokens: Tokenizer) -> None:
    """Of n-best and of samples, in any batch; a piece is copied only from its like."""
    how: list[dict[str, Any]] = [{"beam": 3}, {"sampling": Sampling(seed=3)}]
    for each in how:
        one, many = (
            list(n_best_texts(pointing, tokens, TEXTS, best=2, batch=n, words=False, **each))
            for n in (1, 64)
        )
        for a, b in zip(chain(*one), chain(*many), strict=True):
            assert a.text == b.text
            if not a.read.labels:
                assert a.copies is None
                continue
            assert a.copies is not None
            assert b.copies is not None
            np.testing.assert_allclose(a.copies, b.copies, atol=1e-5)
            assert a.copies.shape == a.alignment.shape
            assert a.copies.sum(-1).max(initial=0) <= 1 + 1e-6
            same = np.array(a.target)[:, None] == np.array(a.source)[None]
            assert ((a.copies > 0) <= same).all()


def test_words_copy_as_their_pieces_do(pointing: Translator, tokens: Tokenizer) -> None:
    how: dict[str, Any] = {"sampling": Sampling(seed=1)}
    pieces, words = (
        max(translations(pointing, tokens, words=whole, **how), key=lambda t: len(t.target))
        for whole in (False, True)
    )
    assert pieces.copies is not None
    assert words.copies is not None
    assert len(words.target) > 1
    assert words.gate is not None
    assert words.copies.shape == (len(words.target), len(words.source))
    assert words.gate.shape == (len(words.target),)
    found = words.to_dict()
    np.testing.assert_allclose(found["copied"], words.copies.sum(-1), atol=1e-6)
    assert np.array(found["copied_from"]).shape == words.copies.shape
    trace = trace_of(pointing, tokens, words)
    np.testing.assert_array_equal(trace["copied"].value, words.copies)


def test_an_unknown_word_that_is_copied_is_named() -> None:
    """With nothing but copying, and a vocabulary that does not have two of the words."""
    tokens = Tokenizer.train(["the dog sees a cat ."] * 3, 10, "word")
    made = make("bahdanau", vocabulary=len(tokens), pointer=True)
    assert made.pointer is not None
    with torch.no_grad():
        made.pointer.gate.bias.fill_(-1000.0)
        made.pointer.gate.weight.zero_()
    said = [
        found
        for seed in range(20)
        for found in translate_texts(
            made, tokens, ["Xylo sees Yps"], sampling=Sampling(seed=seed), words=False
        )
    ]
    words = {word for found in said for word in found.text.split()}
    assert words in ({"Xylo", "sees"}, {"sees", "Yps"}), "the one that it looked at most"
    for found in said:
        assert found.copies is not None
        np.testing.assert_allclose(found.copies.sum(-1), 1, atol=1e-6)
        assert [w.removeprefix("▁") for w in found.target] == found.text.split()
