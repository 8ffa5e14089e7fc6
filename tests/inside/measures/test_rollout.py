"""Rollout against NumPy, and by hand."""

from __future__ import annotations

import numpy as np
import pytest

from regard.inside.measures.measure import measured_maps
from tests.inside.measures.reference import eager, rollout


@pytest.mark.parametrize("family", ["Bert", "GPT2"])
def test_against_numpy(family: str) -> None:
    model, given, weights = eager(family)
    maps = measured_maps(model, lambda: model(**given), "rollout")
    assert list(maps) == [(0, 0), (1, 0)]
    for layer, expected in enumerate(rollout(weights)):
        found = maps[layer, 0].dense().double().numpy()
        assert found == pytest.approx(expected, abs=1e-6)
        assert found.sum(-1) == pytest.approx(np.ones(len(found)), abs=1e-5)


def test_by_hand() -> None:
    """Two words that only look at the first: (½A + ½I)² keeps a quarter of the second."""
    weights = np.array([[[[1.0, 0.0], [1.0, 0.0]]]] * 2)
    assert rollout(weights)[1].tolist() == [[1.0, 0.0], [0.75, 0.25]]
