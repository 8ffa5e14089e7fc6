"""What is wanted, by name and by number; what was found, in parts; the grid of pooled maps."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from regard.attention.wanted import EVERYTHING, PoolGrid, Statistics, Wanted
from regard.errors import RegardError


def test_by_the_names_that_a_user_gives() -> None:
    assert Wanted.of({"top": 3, "entropy": True}) == Wanted(3, True, False, 0)
    assert Wanted.of({}) == Wanted()
    with pytest.raises(RegardError) as told:
        Wanted.of({"entropie": True})
    assert str(told.value) == (
        "statistics are top, entropy, received, cells, got 'entropie'; did you mean 'entropy'?"
    )
    for name in ("top", "cells"):
        with pytest.raises(RegardError, match=f"^{name} must be 0 or more, got -2$"):
            Wanted.of({name: -2})


@pytest.mark.parametrize(
    ("asked", "covered"),
    [
        ({}, True),
        ({"top": 8}, True),
        ({"entropy": True, "cells": 64}, True),
        ({"top": 3}, False),  # other links are found out anew
        ({"cells": 63}, False),
    ],
)
def test_what_one_wish_covers(asked: dict[str, Any], covered: bool) -> None:
    assert EVERYTHING.covers(Wanted.of(asked)) is covered
    assert not Wanted().covers(EVERYTHING)


def test_parts_of_what_was_found() -> None:
    found = Statistics(
        torch.ones(2, 3, 5), entropy=torch.zeros(2, 3, 5), received=torch.ones(2, 3, 7)
    )
    item = found.each(lambda tensor: tensor[1])
    assert item.lse.shape == (3, 5)
    assert item.received is not None
    assert item.received.shape == (3, 7)
    assert item.top_keys is None
    only = found.only(Wanted(entropy=True))
    assert only.entropy is found.entropy
    assert (only.lse is found.lse, only.received) == (True, None)


@given(st.integers(1, 40), st.integers(1, 40), st.integers(1, 12))
def test_cells_cover_every_weight_once(queries: int, keys: int, cells: int) -> None:
    grid = PoolGrid(queries, keys, cells)
    assert max(grid.shape) <= cells
    assert grid.sizes(torch.device("cpu")).sum() == queries * keys
    assert Wanted().grid(queries, keys) is None
