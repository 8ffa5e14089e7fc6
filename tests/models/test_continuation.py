"""Language models that go on with a text."""

from __future__ import annotations

from typing import Literal

import pytest
import torch

from regard.errors import ConfigError
from regard.models.continuation import continue_text
from regard.models.design import DESIGNS
from regard.models.language import LanguageModel, sized
from regard.models.sampling import Sampling
from regard.pieces.tokenizer import BOS, EOS, UNK, Tokenizer

TEXTS = ["the cat sat on the mat .", "a dog and a cat ran .", "the dog barked at the cat ."]


def tokens_of(level: Literal["bpe", "space"] = "bpe") -> Tokenizer:
    return Tokenizer.train(TEXTS * 3, 45 if level == "bpe" else 30, level)


def made(name: str, size: int, end: float = 0.0) -> LanguageModel:
    model = LanguageModel(sized(name, "tiny", size)).eval()
    with torch.no_grad():
        model.bias[EOS], model.bias[UNK] = end, 50.0  # what must not be said would be said
    return model


@pytest.mark.parametrize("name", DESIGNS)
def test_each_token_is_the_likeliest_of_the_whole_text_read_at_once(name: str) -> None:
    tokens = tokens_of("space")  # what was said is then known by the text alone
    model = made(name, len(tokens))
    (found,) = continue_text(model, tokens, " the cat ", 4)
    read = tokens.encode("the cat")
    ids = tokens.encode(found.text)[len(read) :]
    total = 0.0
    for n in range(len(ids) + found.finished):
        logits = model(torch.tensor([[BOS, *read, *ids[:n]]]))[0, -1].detach()
        log_p = logits.log_softmax(-1)
        logits[:3] = -torch.inf
        token = ids[n] if n < len(ids) else EOS
        assert int(logits.argmax()) == token
        total += float(log_p[token])
    assert found.log_p == pytest.approx(total, abs=1e-4)
    assert found.text == "the cat" + found.said
    assert 1 <= len(found.said.split()) <= 4


def test_samples_differ_and_come_again() -> None:
    tokens = tokens_of("space")
    model = made("lstm", len(tokens), end=-5.0)
    how = Sampling(seed=2)
    many = continue_text(model, tokens, "the cat", 5, samples=3, sampling=how, number=1)
    again = continue_text(model, tokens, "the cat", 5, samples=2, sampling=how, number=1)
    assert many[:2] == again
    assert len({one.text for one in many}) == 3
    assert all(len(one.said.split()) == 5 and not one.finished for one in many)


def test_an_end_is_said_and_an_empty_text_begins() -> None:
    tokens = tokens_of()
    (found,) = continue_text(made("lstmn", len(tokens), end=40.0), tokens, "", 3)
    assert (found.text, found.said, found.finished) == ("", "", True)
    (cut,) = continue_text(made("lstmn", len(tokens), end=-40.0), tokens, "", 3)
    assert cut.text
    assert not cut.finished
    assert cut.to_dict().keys() == {"text", "said", "log_p", "finished"}


def test_what_cannot_be_is_told_at_once() -> None:
    tokens = tokens_of()
    with pytest.raises(ConfigError) as caught:
        continue_text(made("lstm", len(tokens)), tokens, "a", 0, samples=101)
    assert str(caught.value) == (
        "a text is continued by 1 to 200 words, got 0; samples must be from 1 to 100, got 101; "
        "the likeliest words are one text: 101 texts must be sampled"
    )
