"""Measure: from a model's outputs to numbers: how far is a changed output from the unchanged?

probability   p(target), of one word or label
logprob       log p(target); of a text that was written, the sum over its tokens
cosine        of a sentence's vector and the unchanged one
KL            sum_w p(w) log(p(w) / q(w)), p unchanged, q changed; over several steps the mean
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


class Measured(ABC):
    """Compares outputs with one that is unchanged."""

    base: float
    """The unchanged output's value."""

    @abstractmethod
    def values(self, output: Tensor) -> Tensor:
        """(rows,); differentiable."""

    @abstractmethod
    def divergences(self, output: Tensor) -> list[float | None]:
        """KL of each row, None where there is no distribution."""


class Likelihood(Measured):
    """Of the ``wanted`` words or labels, one a step: scores (rows, steps, V)."""

    def __init__(self, base: Tensor, wanted: Sequence[int], metric: str) -> None:
        self.before = base.double().log_softmax(-1)
        self.wanted, self.metric = list(wanted), metric
        self.base = float(self.values(base)[0])

    def values(self, output: Tensor) -> Tensor:
        logs = output.double().log_softmax(-1)
        steps = torch.arange(len(self.wanted), device=logs.device)
        total = logs[:, steps, torch.tensor(self.wanted, device=logs.device)].sum(-1)
        return total.exp() if self.metric == "probability" else total

    def divergences(self, output: Tensor) -> list[float | None]:
        after = output.double().log_softmax(-1)
        possible = self.before > -math.inf  # 0 log 0 is 0
        each = self.before.exp() * (self.before - after)
        apart = each.where(possible | self.before.isnan(), 0).sum(-1).mean(-1)
        return [None if math.isnan(one) else max(0.0, one) for one in apart.tolist()]


class Cosine(Measured):
    """Of a sentence's vectors (rows, width)."""

    base = 1.0

    def __init__(self, base: Tensor) -> None:
        self.before = base.double()

    def values(self, output: Tensor) -> Tensor:
        return torch.nn.functional.cosine_similarity(output.double(), self.before, dim=-1)

    def divergences(self, output: Tensor) -> list[float | None]:
        return [None] * len(output)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float | None:
    """Spearman's: the correlation of ranks, those of equals their mean. None if there are fewer
    than three pairs, or all of one side are equal."""
    if len(one) < 3:
        return None
    ranks = [_ranks(np.asarray(side, np.float64)) for side in (one, other)]
    spread = math.prod(float(r.std()) for r in ranks)
    if spread == 0:
        return None
    first, second = (r - r.mean() for r in ranks)
    return float((first * second).mean() / spread)


def _ranks(
    values: np.ndarray[tuple[int], np.dtype[np.float64]],
) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = counts.cumsum()
    found: np.ndarray[tuple[int], np.dtype[np.float64]] = (ends - (counts - 1) / 2)[place]
    return found
