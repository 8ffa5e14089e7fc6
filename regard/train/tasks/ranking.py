"""Ranking: where a recommender puts the item that a user had next, among all items.

HR@k    the share of users whose next item is among the first k
NDCG@k  the mean of 1 / log2(1 + rank), 0 for a rank beyond k: the earlier, the better

All items are ranked, never a sample of them, and an item with an equal score counts as better: a
model that gives all items one score is last.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from regard.pieces.tokenizer import SPECIAL

FIRST = 10
"""k."""
AT_ONCE = 64
"""Users that are ranked together."""


class LeftOut(NamedTuple):
    """A user's items so far, and the next one, which is to be found; model's numbers."""

    before: list[int]
    next: int


class Ranker(Protocol):
    """Whatever recommends."""

    def scores(self, histories: Sequence[list[int]]) -> NDArray[np.float64]:
        """A number for every item after each history: (histories, items with special ones)."""


class Mean(NamedTuple):
    """A mean over users and its standard error."""

    value: float
    error: float

    @classmethod
    def of(cls, values: NDArray[np.float64]) -> Mean:
        spread = float(values.std(ddof=1)) if len(values) > 1 else 0.0
        return cls(float(values.mean()), spread / len(values) ** 0.5)


@dataclass(frozen=True)
class Ranks:
    """The rank of each user's next item, from 1."""

    values: NDArray[np.int64]

    @property
    def hits(self) -> NDArray[np.float64]:
        """Of each user 1 if the item is among the first."""
        return (self.values <= FIRST).astype(np.float64)

    @property
    def gains(self) -> NDArray[np.float64]:
        """Of each user what counts for NDCG."""
        found: NDArray[np.float64] = self.hits / np.log2(1.0 + self.values)
        return found


def ranked(scorer: Ranker, trials: Sequence[LeftOut], again: bool) -> Ranks:
    """Rank all items for each trial; unless users have items ``again``, those that they had are
    left out."""
    found = np.zeros(len(trials), np.int64)
    order = sorted(range(len(trials)), key=lambda i: len(trials[i].before))  # little padding
    for start in range(0, len(order), AT_ONCE):
        some = order[start : start + AT_ONCE]
        for i, scores in zip(some, scorer.scores([trials[i].before for i in some]), strict=True):
            had, right = trials[i]
            worse = allowed(scores, [] if again else had) < scores[right]  # what is NaN is not
            better = ~worse
            better[right] = False
            found[i] = 1 + better.sum()
    return Ranks(found)


def allowed(scores: NDArray[np.float64], without: Sequence[int]) -> NDArray[np.float64]:
    """The scores, those of special tokens and of the items ``without`` as low as can be."""
    kept = scores.copy()
    kept[: len(SPECIAL)] = -np.inf
    kept[list(without)] = -np.inf
    return kept


class Popularity:
    """Recommends to everybody what most users had."""

    def __init__(self, histories: Sequence[list[int]], size: int) -> None:
        self.counts = np.zeros(size)
        for items in histories:
            np.add.at(self.counts, items, 1.0)

    def scores(self, histories: Sequence[list[int]]) -> NDArray[np.float64]:
        return np.tile(self.counts, (len(histories), 1))


class LastItem:
    """A Markov chain: what users had most often right after the last item; then what is popular."""

    def __init__(self, histories: Sequence[list[int]], size: int) -> None:
        self.popular = Popularity(histories, size)
        self.after: dict[int, Counter[int]] = defaultdict(Counter)
        for items in histories:
            for one, other in pairwise(items):
                self.after[one][other] += 1

    def scores(self, histories: Sequence[list[int]]) -> NDArray[np.float64]:
        found = self.popular.scores(histories)
        found /= 1.0 + found.sum(-1, keepdims=True)  # under 1: decides between equal counts alone
        for row, items in zip(found, histories, strict=True):
            for item, count in self.after.get(items[-1], Counter()).items():
                row[item] += count
        return found


BASELINES: dict[str, type[Popularity] | type[LastItem]] = {
    "popularity": Popularity,
    "last item (Markov)": LastItem,
}
