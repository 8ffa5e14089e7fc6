"""Configs of translators: plain data and back, all problems at once, named sizes."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from typing import Any

import pytest
import torch

from regard.errors import ConfigError
from regard.models.translators.builder import build
from regard.models.translators.config import MODELS, TranslatorConfig, sized
from tests.models.batch import SHAPES


def parameters(name: str, size: str, vocabulary: int) -> int:
    with torch.device("meta"):
        return sum(p.numel() for p in build(sized(name, size, vocabulary)).parameters())


@pytest.mark.parametrize("name", MODELS)
def test_designs_of_one_size_have_about_as_many_parameters(name: str) -> None:
    assert parameters(name, "tiny", 4000) == pytest.approx(0.65e6, rel=0.03)
    assert parameters(name, "small", 4000) == pytest.approx(3.0e6, rel=0.03)


@pytest.mark.parametrize("name", MODELS)
def test_small_fits_six_megabytes_in_half_precision(name: str) -> None:
    assert 2 * parameters(name, "small", 4000) < 6.1e6


def test_the_transformers_base_is_the_papers() -> None:
    """d 512, 8 heads, feed-forward 2048, 6 + 6 layers, post-norm, 37,000 shared tokens: 63 M in
    matrices (the paper rounds to 65 million)."""
    config = sized("transformer", "base", 37_000)
    assert (config.width, config.heads, config.feedforward) == (512, 8, 2048)
    assert (config.layers, config.norm, config.dropout, config.tied) == (6, "post", 0.1, True)
    attention, feedforward = 4 * (512 * 512 + 512), 2 * 512 * 2048 + 2048 + 512
    encoder, decoder = attention + feedforward + 4 * 512, 2 * attention + feedforward + 6 * 512
    expected = 6 * encoder + 6 * decoder + 37_000 * 512 + 37_000
    assert parameters("transformer", "base", 37_000) == expected


def test_bahdanaus_base_is_the_papers() -> None:
    """1000 hidden units, 620-dimensional words, 500 maxout units, alignment of 1000."""
    config = sized("bahdanau", "base", 30_000)
    assert (config.hidden, config.width, config.readout, config.tied) == (1000, 620, 500, False)
    n, m, units, v = 1000, 620, 500, 30_000
    encoder = 2 * (3 * n * (m + n) + 3 * n)
    decoder = 3 * n * (m + n + 2 * n) + 3 * n + n * n + n
    alignment = n * n + n * 2 * n + n
    readout = 2 * units * (n + m + 2 * n) + 2 * units
    words = 2 * v * m + v * units + v
    expected = encoder + decoder + alignment + readout + words
    assert parameters("bahdanau", "base", v) == expected


def test_single_settings_can_be_changed() -> None:
    assert sized("transformer", "small", 100, norm="post", layers=1).layers == 1


def test_unknown_names_are_told() -> None:
    with pytest.raises(ConfigError, match="size must be one of tiny, small, base, got 'smal'; did"):
        sized("bahdanau", "smal", 100)
    with pytest.raises(ConfigError, match=r"model must be one of word-by-word, .* got 'rnn'"):
        sized("rnn", "small", 100)


@pytest.mark.parametrize("name", MODELS)
def test_round_trip_through_json(name: str) -> None:
    config = TranslatorConfig(model=name, vocabulary=23, dropout=0.25, **SHAPES[name])
    assert TranslatorConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_a_config_names_only_what_its_design_has() -> None:
    config = TranslatorConfig(model="bahdanau", vocabulary=23, width=10, hidden=7, readout=5)
    assert config.to_dict() == {
        "model": "bahdanau",
        "vocabulary": 23,
        "width": 10,
        "hidden": 7,
        "readout": 5,
        "dropout": 0.0,
        "tied": False,
    }


def test_a_config_does_not_change() -> None:
    config = TranslatorConfig(model="bahdanau", vocabulary=23, width=10, hidden=7, readout=5)
    with pytest.raises(FrozenInstanceError):
        config.width = 11  # type: ignore[misc]


def test_all_problems_are_told_at_once() -> None:
    with pytest.raises(ConfigError) as caught:
        TranslatorConfig("transformer", 4, 10, heads=3, layers=1, hidden=7, dropout=1.0)
    assert str(caught.value) == (
        "a translator's settings do not fit: "
        "vocabulary must be a whole number of at least 5, got 4; "
        "dropout must be at least 0 and less than 1, got 1.0; "
        "feedforward must be a whole number of at least 1, got 0; "
        "transformer has no hidden: leave it out, got 7; "
        'norm must be "pre" or "post", got \'\''
    )


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"model": "transfomer"}, "got 'transfomer'; did you mean 'transformer'?"),
        ({"model": "transformer", "heads": 3}, "heads must divide width, got 3 and 10"),
        ({"model": "bahdanau", "heads": 2}, "bahdanau has no heads: leave it out, got 2"),
        ({"model": "bahdanau", "norm": "pre"}, "bahdanau has no norm: leave it out, got 'pre'"),
        ({"model": "bahdanau", "readout": 9, "tied": True}, "need readout = width"),
        ({"model": "bahdanau", "width": 2.5}, "width must be a whole number of at least 1"),
        ({"model": "bahdanau", "hidden": True}, "hidden must be a whole number"),
        ({"model": "bahdanau", "dropout": "much"}, "dropout must be at least 0"),
        ({"model": "bahdanau", "tied": "yes"}, "tied must be true or false, got 'yes'"),
    ],
)
def test_each_problem_says_the_rule_and_what_was_got(settings: dict[str, Any], text: str) -> None:
    shape = SHAPES.get(settings["model"], SHAPES["transformer"])
    with pytest.raises(ConfigError) as caught:
        TranslatorConfig(**({"vocabulary": 23} | shape | settings))
    assert text in str(caught.value)


def test_unknown_and_missing_names() -> None:
    with pytest.raises(ConfigError) as caught:
        TranslatorConfig.from_dict({"model": "bahdanau", "width": 3, "hiden": 5})
    assert str(caught.value) == (
        "a translator's settings do not fit: there is no 'hiden'; did you mean 'hidden'?; "
        "vocabulary is missing"
    )
