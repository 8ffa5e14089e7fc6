"""Ranks, HR and NDCG by hand; the baselines by counting."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from regard.train.tasks.ranking import LastItem, LeftOut, Mean, Popularity, Ranks, allowed, ranked


class Fixed:
    """Gives every history the same scores."""

    def __init__(self, scores: Sequence[float]) -> None:
        self.row = np.array(scores, float)

    def scores(self, histories: Sequence[list[int]]) -> NDArray[np.float64]:
        return np.tile(self.row, (len(histories), 1))


def test_special_tokens_and_what_was_had_are_not_ranked() -> None:
    scorer = Fixed([9, 9, 9, 9, 5, 4, 3, 3, 1])
    trials = [LeftOut([4], 5), LeftOut([5], 4), LeftOut([4, 5], 6), LeftOut([8], 8)]
    assert ranked(scorer, trials, again=False).values.tolist() == [1, 1, 2, 5]
    assert ranked(scorer, trials, again=True).values.tolist() == [2, 1, 4, 5]


def test_equal_scores_are_lost() -> None:
    assert ranked(Fixed([0] * 11), [LeftOut([4], 5)], again=False).values.tolist() == [6]


def test_hits_and_gains_by_hand() -> None:
    ranks = Ranks(np.array([1, 3, 10, 11]))
    assert ranks.hits.tolist() == [1, 1, 1, 0]
    assert ranks.gains == pytest.approx([1, 0.5, 1 / np.log2(11), 0])
    mean = Mean.of(ranks.hits)
    assert mean.value == 0.75
    assert mean.error == pytest.approx(0.5 / 2)  # the spread of 1, 1, 1, 0 over the root of 4
    assert Mean.of(np.array([1.0])).error == 0


def test_popularity_counts_and_the_last_item_has_successors() -> None:
    histories = [[4, 5, 6], [4, 5], [4, 6, 7], [7]]
    assert Popularity(histories, 9).scores([[4]])[0].tolist() == [0, 0, 0, 0, 3, 2, 2, 2, 0]
    chain = LastItem(histories, 9).scores([[7, 4], [8]])
    assert np.argsort(-chain[0], kind="stable")[:3].tolist() == [5, 6, 4]
    assert chain[0][5] == pytest.approx(2 + 2 / 10)
    assert np.argsort(-chain[1], kind="stable")[:1].tolist() == [4]


@given(
    st.lists(st.integers(-3, 3), min_size=6, max_size=12),
    st.sets(st.integers(4, 5), max_size=1),
)
def test_the_rank_is_a_place_among_those_allowed(scores: list[int], had: set[int]) -> None:
    target = len(scores) - 1 if len(scores) - 1 not in had else 4
    (rank,) = ranked(Fixed(scores), [LeftOut(list(had), target)], again=False).values.tolist()
    kept = [i for i in range(4, len(scores)) if i not in had]
    assert rank == sum(scores[i] >= scores[target] for i in kept if i != target) + 1
    assert np.isinf(allowed(np.array(scores, float), list(had))).sum() == 4 + len(had)


def test_what_is_no_number_is_never_worse() -> None:
    nan = float("nan")
    assert ranked(Fixed([nan] * 11), [LeftOut([4], 5)], again=False).values.tolist() == [11]
    one = [0.0] * 5 + [3.0, nan, 1.0]
    assert ranked(Fixed(one), [LeftOut([4], 5)], again=False).values.tolist() == [2]
