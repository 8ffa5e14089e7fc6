"""Measures by name."""

from __future__ import annotations

import pytest

from regard.errors import RegardError
from regard.inside.measures.measure import measure_of
from regard.inside.measures.rollout import RolloutMeasure
from regard.pieces.measures import MEASURES
from tests.inside.tiny import tiny


def test_names() -> None:
    model = tiny("Bert")
    assert isinstance(measure_of("rollout", model, lambda: None), RolloutMeasure)
    with pytest.raises(
        RegardError,
        match="a measure is one of norm, rollout, flow, value-zeroing, gradient, got 'nrom'",
    ):
        measure_of("nrom", model, lambda: None)
    assert all(said.startswith("Derived, not weights: ") for said in MEASURES.values())
