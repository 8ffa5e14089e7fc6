"""Designs of language models: sizes, settings, and what does not fit."""

from __future__ import annotations

import json
from typing import Any

import pytest

from regard.errors import ConfigError
from regard.models.design import DESIGNS
from regard.models.language import LanguageConfig, LanguageModel, sized


def parameters(model: str, size: str, vocabulary: int) -> int:
    made = LanguageModel(sized(model, size, vocabulary))
    return sum(p.numel() for p in made.parameters())


@pytest.mark.parametrize("model", DESIGNS)
@pytest.mark.parametrize(("size", "beside"), [("tiny", 92_928), ("small", 351_280)])
def test_designs_of_one_size_have_equally_many_parameters(
    model: str, size: str, beside: int
) -> None:
    width = sized(model, size, 100).width
    assert parameters(model, size, 1000) - 1000 * width - 1000 == pytest.approx(beside, rel=0.01)


@pytest.mark.parametrize("model", DESIGNS)
def test_round_trip_through_json(model: str) -> None:
    config = sized(model, "tiny", 23, dropout=0.0)
    content = json.loads(json.dumps(config.to_dict()))
    assert LanguageConfig.from_dict(content) == config
    assert content["dropout"] == 0.0
    assert ("heads" in content) == (model == "transformer")
    assert ("form" in content) == (model == "simple-rnn+attention")


@pytest.mark.parametrize(
    ("model", "changes", "text"),
    [
        ("lstm", {"heads": 2}, "lstm has no heads: leave it out, got 2"),
        ("lstm", {"window": 5}, "lstm has no window: leave it out, got 5"),
        ("lstm", {"form": "xc"}, "lstm has no form: leave it out, got 'xc'"),
        ("lstmn", {"score": "dot"}, "lstmn has no score"),
        ("lstmn", {"hidden": 0}, "hidden must be a whole number of at least 1, got 0"),
        ("lstm", {"recency": 6}, "lstm has no recency: leave it out, got 6"),
        ("lstmn", {"recency": "6"}, "recency must be a number, got '6'"),
        ("lstmn", {"layers": 1.5}, "layers must be a whole number of at least 1, got 1.5"),
        ("lstmn", {"tied": 1}, "tied must be true or false, got 1"),
        ("simple-rnn+attention", {"form": "x"}, 'form must be "xc" or "xch", got \'x\''),
        ("transformer", {"hidden": 7}, "transformer has no hidden"),
        ("transformer", {"heads": 7}, "heads must divide width, got 7 and 64"),
        ("transformer", {"norm": ""}, 'norm must be "pre" or "post"'),
    ],
)
def test_what_does_not_fit(model: str, changes: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as caught:
        sized(model, "tiny", 100, **changes)
    assert text in str(caught.value)
    assert str(caught.value).startswith("a language model's settings do not fit: ")


def test_unknown_names_are_told() -> None:
    with pytest.raises(ConfigError, match=r"got 'lstmm'; did you mean 'lstm' or 'lstmn'"):
        sized("lstmm", "tiny", 100)
    with pytest.raises(ConfigError, match="size must be one of tiny, small, base, got 'huge'"):
        sized("lstm", "huge", 100)
    with pytest.raises(ConfigError, match="model must be one of"):
        LanguageConfig(model="gru", vocabulary=100, width=8)
