"""Importance as plain data."""

from __future__ import annotations

from regard.pieces.importance import HeadEffect, Importance


def made() -> Importance:
    heads = {
        (0, 0): HeadEffect(-0.1, 0.1, 0.02),
        (0, 1): HeadEffect(0.0, 0.3, 0.3),
        (1, 0): HeadEffect(0.05, 0.05, 0.0),
    }
    return Importance("m", "probability", "self", 3, 21, heads)


def test_ranked_by_size_not_by_sign() -> None:
    assert made().ranked() == [(0, 1), (0, 0), (1, 0)]
    content = made().to_json()
    assert [*content] == ["model", "metric", "part", "texts", "tokens", "heads"]
    assert content["heads"][0] == {
        "layer": 0,
        "head": 1,
        "importance": 0.3,
        "change": 0.0,
        "spread": 0.3,
    }
