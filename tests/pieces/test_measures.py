"""Measures: each says that it is derived, and heads its own column."""

from __future__ import annotations

from regard.pieces.measures import MEASURES, column, told


def test_a_column_is_headed_by_what_it_holds() -> None:
    assert column("") == "weight"
    headings = [column(measure) for measure in MEASURES]
    assert headings == ["norm", "rollout", "flow", "zeroing", "grad·a"]
    assert max(map(len, headings)) <= len("weight") + 1


def test_all_are_said_to_be_derived() -> None:
    assert all(said.startswith("Derived, not weights: ") for said in MEASURES.values())


def test_a_measure_speaks_of_the_pieces_of_the_thing() -> None:
    assert "half of each word kept" in told("rollout")
    assert "half of each patch kept" in told("rollout", "patch")
    assert "stream from item to item through" in told("flow", "item")
    assert "hands on of a frame changes without another frame's value" in told(
        "value-zeroing", "frame"
    )
    assert not any("{" in told(measure, "step") for measure in MEASURES)
