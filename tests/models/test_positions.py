"""Positions: the first rows by hand, the scale, and texts longer than the table."""

from __future__ import annotations

import math

import pytest
import torch

from regard.models.positions import POSITIONS, Positions


def test_vectors_are_scaled_and_positions_added() -> None:
    """Position 0 is (0, 1, 0, 1, …), position 1 begins with sin 1, cos 1."""
    made = Positions(4)
    x = made(torch.ones(3, 2, 4))
    assert x.shape == (3, 2, 4)
    assert x[0, 0].tolist() == [2, 3, 2, 3]
    assert x[2, 1, :2].tolist() == pytest.approx([2 + math.sin(1), 2 + math.cos(1)])


def test_a_text_that_goes_on_has_the_places_after_it() -> None:
    made, x = Positions(6), torch.randn(2, 7, 6)
    assert torch.equal(made(x)[:, 5:], made(x[:, 5:], first=5))


def test_the_table_grows_and_keeps_its_rows() -> None:
    made = Positions(6)
    before = made.rows(POSITIONS)
    after = made.rows(3, first=POSITIONS)
    assert after.shape == (3, 6)
    assert torch.equal(made.rows(POSITIONS), before)
    assert after[0, 0].item() == pytest.approx(math.sin(POSITIONS), abs=1e-5)


def test_nothing_of_it_is_saved() -> None:
    assert not Positions(6).state_dict()
