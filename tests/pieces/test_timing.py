"""Timings as plain data: their order, and how far named heads are ahead."""

from __future__ import annotations

import json

import pytest

from regard.pieces.heads import HeadPlace
from regard.pieces.timing import HeadTiming, Timings


def timings(named: list[HeadPlace]) -> Timings:
    heads = {
        (0, 0): HeadTiming(0.5, 0.5, 1.0),
        (0, 1): HeadTiming(1.0, 0.75, 1.0),
        (1, 0): HeadTiming(-1.0, 1.0, 1.0),
        (1, 1): HeadTiming(0.0, 1.0, 0.25),
    }
    return Timings("w", ["one", "two"], 0.64, 32, 18, 0.1, heads, named)


def test_ranked_by_order_times_sharp() -> None:
    found = timings([])
    assert [found.heads[place].score for place in found.ranked()] == [0.75, 0.25, 0, 0]
    assert found.ranked() == [(0, 1), (0, 0), (1, 0), (1, 1)]
    assert found.ahead() is None


def test_how_far_named_heads_are_ahead() -> None:
    assert timings([(0, 1)]).ahead() == 1
    assert timings([(0, 0)]).ahead() == pytest.approx(2 / 3)
    assert timings([(1, 0)]).ahead() == pytest.approx(0.5 / 3)  # level with one of three
    assert timings([(0, 0), (0, 1), (1, 0), (1, 1)]).ahead() is None


def test_json() -> None:
    content = json.loads(json.dumps(timings([(0, 0)]).to_json()))
    assert content["alignment_heads"] == [[0, 0]]
    assert [(h["layer"], h["head"], h["named"]) for h in content["heads"]][:2] == [
        (0, 1, False),
        (0, 0, True),
    ]
