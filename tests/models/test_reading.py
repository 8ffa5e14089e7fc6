"""Readings: the model's own weights and probabilities, pieces put together to words."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import torch

from regard.errors import ConfigError, DataError
from regard.models import reading as reading_module
from regard.models.classifier import Classifier
from regard.models.classifier import sized as sized_classifier
from regard.models.design import DESIGNS
from regard.models.language import LanguageModel, sized
from regard.models.notedattention import ATTENTION
from regard.models.reading import judge_sentence, prepared, read_sentence
from regard.pieces.tokenizer import BOS, EOS, Tokenizer
from regard.pieces.unknown import Unknown
from regard.trace import Trace

TEXTS = ["the cat sat on the mat.", "a dog sat.", "cats and dogs, dogs and cats!"]
PIECES = Tokenizer.train(TEXTS * 3, 34)
SPACED = Tokenizer.train(["the cat sat .", "the <unk> sat ."], 20, "space", least=1)


def model(name: str, tokens: Tokenizer, **changes: Any) -> LanguageModel:
    torch.manual_seed(3)
    return LanguageModel(sized(name, "tiny", len(tokens), **changes)).eval()


@pytest.mark.parametrize("name", DESIGNS)
def test_surprisal_is_the_models_own(name: str) -> None:
    made = model(name, PIECES)
    reading = read_sentence(made, PIECES, "the cat dogs.")
    ids = PIECES.encode("the cat dogs.")
    with torch.no_grad():
        logs = made(torch.tensor([[BOS, *ids]]))[0].log_softmax(-1)
    bits = [-float(logs[t, i]) / math.log(2) for t, i in enumerate([*ids, EOS])]
    assert reading.words == ["<s>", "the", "cat", "dogs", "."]
    assert reading.surprisal[0] == 0
    assert reading.surprisal.sum() == pytest.approx(sum(bits[:-1]), rel=1e-5)
    assert reading.end == pytest.approx(bits[-1], rel=1e-5)
    assert reading.perplexity == pytest.approx(2 ** (sum(bits) / 5), rel=1e-5)


@pytest.mark.parametrize("name", ["simple-rnn+attention", "lstmn"])
def test_attention_is_what_the_reader_returns(name: str) -> None:
    made = model(name, SPACED, layers=2)
    reading = read_sentence(made, SPACED, "the cat sat .")
    ids = torch.tensor([[BOS, *SPACED.encode("the cat sat .")]])
    with torch.no_grad():
        vectors = torch.nn.functional.embedding(ids, made.words)
        own = made.body.reader(vectors, need_weights=True)  # type: ignore[operator,union-attr]
    assert reading.attention.shape == (2, 1, 5, 5)
    for k, weights in enumerate(own.weights):
        np.testing.assert_allclose(reading.weights(k), weights[0], atol=1e-6)


def test_pieces_of_a_word_are_put_together() -> None:
    made = model("transformer", PIECES)
    reading = read_sentence(made, PIECES, "the zoo .")
    pieces = PIECES.pieces(PIECES.encode("the zoo."))
    assert reading.words == ["<s>", "the", "zoo", "."]
    assert list(Unknown(reading.pieces).parts) == ["z"], "no letter of the training text"
    assert len(pieces) > 3
    assert reading.attention.shape == (2, 4, 4, 4)
    np.testing.assert_allclose(reading.attention.sum(-1), 1, atol=1e-6)
    raw = reading.trace["layer 1/self-attention/weights"].value[0, 2]
    first = reading.words.index("zoo")
    own = raw[first : len(pieces), first : len(pieces)].sum(-1).mean()
    assert reading.weights(1, 2)[first, first] == pytest.approx(own, abs=1e-6)
    np.testing.assert_allclose(reading.weights(), reading.attention[-1].mean(0))


def test_no_attention_no_layers() -> None:
    reading = read_sentence(model("lstm", PIECES), PIECES, "the cat")
    assert reading.attention.shape == (0, 1, 3, 3)
    assert [step.name for step in reading.summary()] == ["surprisal"]


def test_layers_and_heads_that_are_not_there() -> None:
    reading = read_sentence(model("transformer", PIECES), PIECES, "the cat")
    with pytest.raises(ConfigError, match="layer must be from 0 to 1, got 2"):
        reading.weights(2)
    with pytest.raises(ConfigError, match="head must be from 0 to 3, got -1"):
        reading.weights(0, -1)


def test_the_summary_is_a_trace_that_reads_back() -> None:
    reading = read_sentence(model("lstmn", PIECES), PIECES, "the cat sat")
    import json

    again = Trace.from_dict(json.loads(reading.summary().to_json()))
    assert again.tokens == reading.words
    np.testing.assert_array_equal(again["layer 0/attention"].value, reading.weights())
    assert again["layer 0/attention"].labels["query"] == reading.words
    np.testing.assert_allclose(again["surprisal"].value, reading.surprisal)


@pytest.mark.parametrize(
    ("tokens", "text", "read"),
    [
        (PIECES, "the cat , sat .", "the cat, sat."),
        (PIECES, "1 .5", "1 .5"),
        (SPACED, "The cat sat.", "the cat sat ."),
        (SPACED, "the <unk> CAT", "the <unk> cat"),
        (SPACED, "the Zoo", "the Zoo"),
    ],
)
def test_punctuation_goes_where_the_model_has_it(tokens: Tokenizer, text: str, read: str) -> None:
    assert prepared(tokens, text) == read


def test_nothing_to_read() -> None:
    with pytest.raises(DataError, match="nothing to read"):
        read_sentence(model("lstm", PIECES), PIECES, " \n ")


def test_a_special_token_in_the_text_is_unknown() -> None:
    reading = read_sentence(model("lstm", SPACED), SPACED, "the </s> sat")
    assert reading.words == ["<s>", "the", "</s>", "sat"]
    assert list(Unknown(reading.pieces).parts) == ["</s>"]


def test_a_verdict() -> None:
    torch.manual_seed(3)
    made = Classifier(sized_classifier("lstmn", "tiny", len(PIECES), ("no", "yes"))).eval()
    verdict = judge_sentence(made, PIECES, "the cat sat.")
    assert verdict.words == ["the", "cat", "sat", "."]
    assert verdict.weights.sum() == pytest.approx(1)
    assert verdict.label == verdict.labels[int(verdict.probabilities[1] > 0.5)]
    ids = PIECES.encode("the cat sat.")
    logits = made(torch.tensor([ids]), torch.tensor([len(ids)])).logits[0]
    np.testing.assert_allclose(
        verdict.probabilities, logits.softmax(-1).detach().numpy(), rtol=1e-5
    )
    assert [step.name for step in verdict.summary()] == ["weights", "probabilities"]


@pytest.mark.parametrize("name", ["lstmn", "simple-rnn+attention", "transformer"])
def test_without_a_trace_the_same_attention_in_less_room(name: str) -> None:
    made, text = model(name, PIECES), "the cat sat on the mat. " * 5
    whole = read_sentence(made, PIECES, text)
    short = read_sentence(made, PIECES, text, traced=False)
    np.testing.assert_array_equal(short.attention, whole.attention)
    np.testing.assert_array_equal(short.surprisal, whole.surprisal)
    assert {step.name for step in short.trace} <= set(ATTENTION)
    kept, all_of_it = (sum(s.value.nbytes for s in r.trace) for r in (short, whole))
    assert kept < all_of_it / 5


def test_a_text_that_is_too_long_is_refused_before_the_room_is_taken(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(reading_module, "MOST_TOKENS", 20)
    monkeypatch.setattr(reading_module, "MOST_TRACED", 10)
    made = model("lstmn", PIECES)
    with pytest.raises(DataError, match=r"may have 10 tokens, of which every step is kept, this"):
        read_sentence(made, PIECES, "the cat sat on the mat.")
    read_sentence(made, PIECES, "the cat sat on", traced=False)
    with pytest.raises(DataError, match=r"may have 20 tokens, this one has .* one a line"):
        read_sentence(made, PIECES, "the cat sat on the mat. " * 3, traced=False)
