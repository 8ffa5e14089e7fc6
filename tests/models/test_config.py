from __future__ import annotations

import json
from dataclasses import FrozenInstanceError

import pytest

from regard.errors import ConfigError
from regard.models import MODELS, TranslatorConfig
from tests.models.batch import SHAPES


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
def test_each_problem_says_the_rule_and_what_was_got(settings: dict, text: str) -> None:
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
