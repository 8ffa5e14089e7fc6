"""Where a change is in a call: rows, columns and heads of positions."""

from __future__ import annotations

import pytest
import torch

from regard.errors import RegardError
from regard.inside.intervene.change import Change, Extent, numbers


def test_positions_of_a_later_step() -> None:
    """Two queries at 5 and 6 that see the keys 2 to 6, as with a window."""
    extent = Extent(1, 2, 2, 5, 5, 2, torch.device("cpu"))
    change = Change(0, "self", (1,), query=(4, 6), key=(0, 3, 6))
    assert (extent.rows(change), extent.columns(change)) == ([1], [1, 4])
    pairs = extent.nothing()
    extent.mark(change, pairs)
    assert pairs.nonzero().tolist() == [[0, 1, 1, 1], [0, 1, 1, 4]]


def test_what_is_left_out_is_all() -> None:
    extent = Extent(2, 3, 4, 4, 0, 0, torch.device("cpu"))
    pairs = extent.nothing()
    extent.mark(Change(0, "self", None, batch=1, key=(2,)), pairs)
    assert pairs.sum() == 3 * 4
    assert bool(pairs[1, :, :, 2].all())


def test_where_in_words() -> None:
    assert Change(3, "self", (1,)).where == "head 1 of layer 3"
    assert Change(None, "cross", None).where == "all heads of all layers (cross)"


@pytest.mark.parametrize("wrong", [True, -1, "1", [0, 2.0]])
def test_numbers_are_whole_and_from_zero(wrong: object) -> None:
    with pytest.raises(RegardError, match="head is a whole number from 0"):
        numbers(wrong, "head")  # type: ignore[arg-type]
    assert numbers((4, 2), "head") == (4, 2)
