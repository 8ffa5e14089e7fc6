"""Perplexity: by hand, and the same however the text is cut."""

from __future__ import annotations

import math
from itertools import pairwise

import pytest
import torch
import torch.nn.functional as F

from regard.models.design import DESIGNS
from regard.models.language import LanguageModel, sized
from regard.pieces.tokenizer import BOS, EOS, Tokenizer
from regard.train.tasks.perplexity import in_streams, score_text

TEXTS = ["the cat sat", "a cat", "the dog sat on the mat ."]
TOKENS = Tokenizer.train(TEXTS, 30, "space", least=1)


def model(name: str, **changes: object) -> LanguageModel:
    torch.manual_seed(0)
    return LanguageModel(sized(name, "tiny", len(TOKENS), **changes)).eval()


def test_a_model_that_knows_nothing_is_as_perplexed_as_there_are_tokens() -> None:
    made = model("lstm")
    with torch.no_grad():
        made.words.zero_()
        made.bias.zero_()
    score = score_text(made, TOKENS, TEXTS)
    assert (score.sentences, score.tokens, score.words) == (3, 4 + 3 + 8, 4 + 3 + 8)
    assert score.perplexity == pytest.approx(len(TOKENS))
    assert score.unknown == 0


def test_words_and_unknown_words_are_counted() -> None:
    pieces = Tokenizer.train(["abab abab"] * 4, 12, "bpe")
    torch.manual_seed(0)
    made = LanguageModel(sized("lstm", "tiny", len(pieces))).eval()
    score = score_text(made, pieces, ["abab aba", "z"])
    assert score.words == 3 + 2
    assert score.tokens > score.words
    assert score.unknown == 1
    expected = math.exp(score.loss / 5)
    assert score.word_perplexity == pytest.approx(expected)


@pytest.mark.parametrize("name", DESIGNS)
def test_sentences_do_not_depend_on_the_batch(name: str) -> None:
    made = model(name)
    by_hand = 0.0
    with torch.no_grad():
        for text in TEXTS:
            ids = torch.tensor([BOS, *TOKENS.encode(text), EOS])
            logits = made(ids[None, :-1])[0]
            by_hand += float(F.cross_entropy(logits, ids[1:], reduction="sum"))
    for size in (2, 9, 2000):
        assert score_text(made, TOKENS, TEXTS, batch_tokens=size).loss == pytest.approx(by_hand)


@pytest.mark.parametrize("name", DESIGNS[:4])
def test_a_stream_does_not_depend_on_its_pieces(name: str) -> None:
    made = model(name, window=3 if name in ("simple-rnn+attention", "lstmn") else 0)
    flat = torch.tensor([EOS] + [i for text in TEXTS for i in (*TOKENS.encode(text), EOS)])
    with torch.no_grad():
        logits = made(flat[None, :-1])[0]
    by_hand = float(F.cross_entropy(logits, flat[1:], reduction="sum"))
    for chunk in (1, 4, 100):
        score = score_text(made, TOKENS, TEXTS, continuous=True, chunk=chunk)
        assert score.loss == pytest.approx(by_hand)
        assert score.tokens == len(flat) - 1


@pytest.mark.parametrize("streams", [1, 2, 3, 7, 11, 40])
def test_streams_predict_every_token_once(streams: int) -> None:
    sentences = [[5, 6], [7], [8, 9, 10], []]
    table = in_streams(sentences, streams)
    wanted = [5, 6, EOS, 7, EOS, 8, 9, 10, EOS, EOS]
    assert [i for row in table[:, 1:].tolist() for i in row if i] == wanted
    assert table[0, 0] == EOS
    for before, row in pairwise(table):
        assert row[0] == before[-1]
