"""A word's way as plain data."""

from __future__ import annotations

import json

import numpy as np
import pytest

from regard.trace import Trace
from tests.pieces.wholes import by_hand


def test_parts() -> None:
    parts = by_hand().parts
    assert parts is not None
    assert parts.total == pytest.approx(2.0)
    assert parts.difference == pytest.approx(0)
    assert parts.sources() == pytest.approx([-0.25, 0.75])
    assert parts.sources("cross-attention") == []
    names = [part.name for part in parts.parts]
    assert names == ["word", "layer 0 head 1", "layer 1 head 0", "layer 1 feed-forward", "biases"]


def test_json() -> None:
    whole = by_hand()
    content = json.loads(whole.to_json())
    assert len(Trace.from_dict(content)) == 11
    assert content["kind"] == "next word"
    assert content["position"] == 1
    assert content["predictions"][1] == {"word": "ran", "id": 5, "score": 0.9, "probability": 0.25}
    assert content["parts"]["parts"][1] == {
        "kind": "attention",
        "score": 1.0,
        "layer": 0,
        "head": 1,
        "sources": [0.25, 0.75],
    }
    assert "sentence_vector" not in content
    whole.sentence, whole.other = np.array([0.6, 0.8]), ("another", 0.5)
    content = json.loads(whole.to_json())
    assert content["sentence_vector"] == [0.6, 0.8]
    assert content["similarity"] == {"text": "another", "cosine": 0.5}
