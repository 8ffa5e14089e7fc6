"""Outcomes side by side."""

from __future__ import annotations

import numpy as np
import pytest

from regard.pieces.outcome import ModelOutcome, Trials
from regard.pieces.whole import Prediction


def test_beside() -> None:
    one = ModelOutcome("sentence vector", vector=np.array([1.0, 0.0]))
    other = ModelOutcome("sentence vector", vector=np.array([0.6, 0.8]))
    assert other.beside(one) == {"kind": "sentence vector", "cosine": pytest.approx(0.6)}
    said = ModelOutcome("next word", (Prediction("sat", 7, 2.0, 0.75),))
    words = [{"word": "sat", "id": 7, "score": 2.0, "probability": 0.75}]
    assert said.beside(said) == {"kind": "next word", "predictions": words}
    found = Trials(one, (((2, 3), (), other),)).to_dict()
    assert found["before"]["cosine"] == 1
    assert found["carried"][0]["masked"] == (2, 3)
    assert found["carried"][0]["after"]["cosine"] == pytest.approx(0.6)
