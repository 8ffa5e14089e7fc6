"""Heads in the order of a kind or of a link."""

from __future__ import annotations

import pytest

from regard.errors import RegardError
from regard.pieces.heads import HEAD_KINDS, Heads, Scored


def heads(**weights: float | None) -> Heads:
    def of(previous: float, broad: float | None) -> Scored:
        scores: dict[str, float | None] = dict.fromkeys(HEAD_KINDS, 0.0)
        return Scored("mixed", scores | {"previous": previous, "broad": broad})

    scored = {(1, 0): of(0.2, None), (0, 1): of(0.8, 0.5), (0, 0): of(0.2, 0.25)}
    return Heads("m", 7, scored, {(int(k[1]), int(k[3])): w for k, w in weights.items()})


def test_the_order() -> None:
    assert heads().ranked() == [(0, 0), (0, 1), (1, 0)]
    assert heads().ranked("previous") == [(0, 1), (0, 0), (1, 0)]
    assert heads().ranked("broad") == [(0, 1), (0, 0), (1, 0)], "what was not there counts as 0"
    assert heads(L1H0=0.5, L0H0=None).ranked() == [(1, 0), (0, 0), (0, 1)]


def test_a_kind_that_is_none() -> None:
    with pytest.raises(RegardError, match=r"no kind 'previus'; did you mean 'previous'\? \(known:"):
        heads().ranked("previus")


def test_json() -> None:
    first = heads(L0H1=1 / 3).to_json()["heads"][0]
    assert first == {
        "layer": 0,
        "head": 1,
        "kind": "mixed",
        "scores": dict.fromkeys(HEAD_KINDS, 0.0) | {"previous": 0.8, "broad": 0.5},
        "weight": 0.3333333,
    }
    assert heads().to_json("previous")["heads"][2]["scores"]["broad"] is None
    assert "weight" not in heads().to_json()["heads"][0]
