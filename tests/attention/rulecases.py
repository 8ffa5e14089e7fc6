"""The cases that the rule and its twins (the kernel, the page's script) are all tested with; and
the rule once more, in NumPy and float64, straight from its definition."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from regard.attention import Mask, causal, padding, window
from regard.attention.rule import Rule

WIDTH, VALUE_WIDTH = 5, 3
SHAPES = ((2, 1, 7, 7), (1, 3, 5, 11), (2, 2, 13, 3))
"""Key heads, query heads for each, queries, keys: as many, fewer and more queries than keys."""


class RuleCase(NamedTuple):
    name: str
    query: Tensor
    """(heads, queries, width)"""
    key: Tensor
    """(key heads, keys, width)"""
    value: Tensor
    """(key heads, keys, value width)"""
    rule: Rule
    scores: np.ndarray[Any, Any]
    """(heads, queries, keys) in float64, by the definition; −inf where masked."""
    weights: np.ndarray[Any, Any]

    @property
    def tolerance(self) -> float:
        """A float32 score of size s is off by about s · 6e-8, and so is a weight, relatively."""
        finite = self.scores[np.isfinite(self.scores)]
        return 2e-6 + 1e-6 * float(np.abs(finite).max(initial=0))

    @property
    def lse(self) -> np.ndarray[Any, Any]:
        most = self.scores.max(-1, initial=-1e300)
        sums = np.exp(self.scores - most[..., None]).sum(-1)
        empty = np.isneginf(self.scores).all(-1)
        return np.where(empty, -np.inf, most + np.log(np.where(empty, 1, sums)))


def generated() -> Iterator[RuleCase]:
    """Every mask with every bias, of every shape, with and without a soft cap, small and large."""
    for number, (shape, size, capped) in enumerate(
        itertools.product(SHAPES, (1.0, 30.0), (None, 5.0))
    ):
        key_heads, groups, queries, keys = shape
        heads = key_heads * groups
        torch.manual_seed(number)
        for (masked, mask), (biased, bias) in itertools.product(
            masks(heads, queries, keys).items(), biases(heads, queries, keys).items()
        ):
            query = torch.randn(heads, queries, WIDTH) * size
            key = torch.randn(key_heads, keys, WIDTH)
            value = torch.randn(key_heads, keys, VALUE_WIDTH)
            rule = Rule(0.375, mask, bias, capped)
            name = f"{shape}, size {size:g}, soft cap {capped}, {masked}, {biased}"
            yield RuleCase(name, query, key, value, rule, *defined(query, key, rule))


def masks(heads: int, queries: int, keys: int) -> dict[str, Mask | None]:
    matrix = torch.rand(queries, keys) < 0.5
    matrix[queries // 2] = False  # a query that may attend to nothing
    return {
        "no mask": None,
        "causal": causal(),
        "strictly before": Mask(causal=True, after=-1),
        "window": window(2, 1),
        "causal window": causal() & window(1),
        "padding": padding(torch.tensor(keys // 2), keys),
        "matrix": Mask(allowed=matrix),
        "a matrix for each head": causal() & Mask(allowed=torch.rand(heads, queries, keys) < 0.7),
        "nothing": Mask(allowed=torch.zeros(1, 1, dtype=torch.bool)),
    }


def biases(heads: int, queries: int, keys: int) -> dict[str, Tensor | None]:
    holes = torch.randn(1, queries, keys).where(torch.rand(keys) < 0.7, -math.inf)
    holes[:, queries // 3] = -3e38  # as a mask that is added says it
    return {
        "no bias": None,
        "bias": torch.randn(heads, queries, keys),
        "bias of keys": torch.randn(1, 1, keys) * 10,
        "bias with holes": holes,
    }


def defined(
    query: Tensor, key: Tensor, rule: Rule
) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Scores and weights (heads, queries, keys), one pair of a query and a key after the other."""
    q, k = query.double().numpy(), key.double().numpy()
    (heads, queries, _), (key_heads, keys, _) = q.shape, k.shape
    shape = heads, queries, keys
    bias = None if rule.bias is None else rule.bias.double().expand(shape).numpy()
    mask = rule.mask or Mask()
    allowed = None if mask.allowed is None else mask.allowed.expand(shape).numpy()
    scores, weights = np.full(shape, -np.inf), np.zeros(shape)
    for h, i, j in np.ndindex(shape):
        ahead = j - (i + keys - queries)
        if (
            (mask.causal and ahead > 0)
            or (mask.before is not None and -ahead > mask.before)
            or (mask.after is not None and ahead > mask.after)
            or (allowed is not None and not allowed[h, i, j])
            or (bias is not None and bias[h, i, j] < -1e30)
        ):
            continue
        score = q[h, i] @ k[h * key_heads // heads, j] * rule.scale
        if rule.softcap is not None:
            score = rule.softcap * math.tanh(score / rule.softcap)
        scores[h, i, j] = score + (0 if bias is None else bias[h, i, j])
    for h, i in np.ndindex(shape[:2]):
        seen = np.isfinite(scores[h, i])
        if seen.any():
            powers = np.exp(scores[h, i, seen] - scores[h, i, seen].max())
            weights[h, i, seen] = powers / powers.sum()
    return scores, weights


CASES = list(generated())
