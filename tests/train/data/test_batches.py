"""Batches: every example once, the limit held, the order decided by (seed, epoch)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import DataError
from regard.pieces.tokenizer import BOS, EOS, PAD
from regard.train.data.batches import TrainingExample, collate, plan

LENGTHS = st.lists(st.tuples(st.integers(1, 20), st.integers(2, 20)), max_size=80)


@given(LENGTHS, st.integers(20, 200), st.integers(0, 3), st.integers(0, 3) | st.none())
def test_every_example_once_within_the_limit(
    lengths: list[tuple[int, int]], limit: int, seed: int, epoch: int | None
) -> None:
    batches = plan(lengths, limit, seed=seed, epoch=epoch)
    assert sorted(i for batch in batches for i in batch) == list(range(len(lengths)))
    for batch in batches:
        assert len(batch) * max(max(lengths[i]) for i in batch) <= limit
    assert batches == plan(lengths, limit, seed=seed, epoch=epoch)


def test_batches_are_full() -> None:
    assert [len(batch) for batch in plan([(5, 3)] * 23, 20)] == [4, 4, 4, 4, 4, 3]


def test_epochs_and_seeds_differ() -> None:
    lengths = [(3 + i % 7, 5) for i in range(200)]
    one = plan(lengths, 50, seed=1, epoch=0)
    assert one != plan(lengths, 50, seed=1, epoch=1)
    assert one != plan(lengths, 50, seed=2, epoch=0)


def test_like_lengths_are_together() -> None:
    lengths = [(1 + i % 20, 2) for i in range(400)]
    batches = plan(lengths, 60, seed=0, epoch=0)
    padded = sum(len(batch) * max(max(lengths[i]) for i in batch) for batch in batches)
    assert padded < 1.1 * sum(max(pair) for pair in lengths)


def test_an_example_larger_than_the_limit() -> None:
    with pytest.raises(DataError, match="20 tokens cannot hold example 1 of 21"):
        plan([(3, 3), (21, 5)], 20)


def test_collate_by_hand() -> None:
    batch = collate([TrainingExample([5, 6], [7]), TrainingExample([8], [9, 10, 11])])
    assert batch.source.tolist() == [[5, 6, EOS], [8, EOS, PAD]]
    assert batch.source_lengths.tolist() == [3, 2]
    assert batch.target.tolist() == [[BOS, 7, EOS, PAD, PAD], [BOS, 9, 10, 11, EOS]]
    assert batch.target_lengths.tolist() == [3, 5]
