"""Padding: real positions by hand, and batches that cannot be."""

from __future__ import annotations

import pytest
import torch

from regard.errors import DataError
from regard.models.padding import RealRows, check_batch, pick, real_rows


def test_real_rows_count_through_the_batch() -> None:
    rows = real_rows(torch.tensor([1, 3, 2]), 3)
    assert rows is not None
    assert rows.tolist() == [0, 3, 4, 5, 6, 7]
    assert real_rows(torch.tensor([3, 3]), 3) is None


def test_picked_rows() -> None:
    x = torch.arange(12.0).view(2, 3, 2)
    assert pick(x, torch.tensor([5, 0])).tolist() == [[10, 11], [0, 1]]
    assert pick(x, None).shape == (6, 2)


def test_rows_hold_the_real_positions_only() -> None:
    x = torch.arange(12.0).view(2, 3, 2)
    rows = RealRows.of(torch.tensor([0, 3, 4]), 2, 3)
    held = rows.gather(x)
    assert held.tolist() == [[0, 1], [6, 7], [8, 9]]
    assert rows.spread(held).tolist() == [[[0, 1], [0, 0], [0, 0]], [[6, 7], [8, 9], [0, 0]]]
    assert RealRows.of(torch.arange(99), 10, 10).rows is None  # too little padding to be worth it


def test_all_rows_come_back_as_they_were() -> None:
    x = torch.arange(12.0).view(2, 3, 2)
    rows = RealRows.of(None, 2, 3)
    assert torch.equal(rows.spread(rows.gather(x)), x)


@pytest.mark.parametrize(
    ("shape", "lengths", "text"),
    [
        ((2, 3), [1], "got (2, 3) and lengths (1,)"),
        ((0, 3), [], "at least one sentence; got (0, 3) and lengths (0,)"),
        ((2, 3, 5), [1, 1], "got (2, 3, 5) and lengths (2,)"),
        ((2, 3), [0, 3], "at most the batch's 3; got lengths from 0 to 3"),
        ((2, 3), [1, 4], "at most the batch's 3; got lengths from 1 to 4"),
    ],
)
def test_batches_that_cannot_be(shape: tuple[int, ...], lengths: list[int], text: str) -> None:
    with pytest.raises(DataError) as caught:
        check_batch(torch.zeros(shape), torch.tensor(lengths, dtype=torch.long))
    assert text in str(caught.value)
