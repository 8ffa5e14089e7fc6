"""Effects as plain data."""

from __future__ import annotations

import pytest

from regard.pieces.ablation import Ablation, Baseline, Effect
from regard.text import Word


def made() -> Ablation:
    effects = [
        Effect(0, 1, 0.4, -0.1, 0.2, 0.01),
        Effect(2, 0, 0.9, 0.4, None, None, "cross", Word("it", 3, 4), Word("animal", 1, 2)),
        Effect(None, None, 0.45, -0.05, heads=0),
    ]
    return Ablation("m", "it is", "probability", "tired", 0.5, effects, 0.25)


def test_json() -> None:
    content = made().to_json()
    assert content["effects"][0] == {
        "layer": 0,
        "head": 1,
        "weight": 0.2,
        "value": 0.4,
        "change": -0.1,
        "kl": 0.01,
    }
    second = content["effects"][1]
    assert [*second] == ["layer", "head", "part", "query", "key", "weight", "value", "change", "kl"]
    assert (second["query"], second["key"], second["weight"]) == (3, 1, None)
    assert (content["target"], content["correlation"]) == ("tired", 0.25)
    assert "baseline" not in content


def test_ranked_by_size_with_the_whole_first() -> None:
    assert [e.change for e in made().ranked()] == [-0.05, 0.4, -0.1]
    assert made().with_texts({0: "x"}).to_json()["effects"][0]["text"] == "x"


def test_mean_and_spread_of_draws() -> None:
    base = Baseline("1 head", [0.1, 0.3])
    assert base.mean == pytest.approx(0.2)
    assert base.spread == pytest.approx(0.1)
    assert base.to_json()["draws"] == 2
