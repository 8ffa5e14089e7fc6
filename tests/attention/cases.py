"""Hypothesis: every shape and mask that attention takes; and attention once more, in NumPy."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import torch
from hypothesis import strategies as st
from torch import Tensor

from regard.attention import Mask, causal, window

TOLERANCE = {torch.float32: 1e-6, torch.float64: 1e-12}
dtypes = st.sampled_from(list(TOLERANCE))


@dataclass
class Case:
    """Arguments of ``attend``, and the same with groups repeated and the mask made dense."""

    query: Tensor
    key: Tensor
    value: Tensor
    mask: Mask | Tensor | None
    groups: int

    @property
    def tolerance(self) -> float:
        return TOLERANCE[self.query.dtype]

    @property
    def allowed(self) -> Tensor | None:
        if self.mask is None:
            return None
        mask = self.mask if isinstance(self.mask, Mask) else Mask(allowed=self.mask)
        return mask.dense(self.query.shape[-2], self.key.shape[-2])

    def spread(self) -> tuple[Tensor, Tensor, Tensor]:
        """Query, key and value with one leading shape: nothing left to broadcast or repeat."""
        key, value = self.key, self.value
        if self.groups > 1:
            key, value = (t.repeat_interleave(self.groups, -3) for t in (key, value))
        lead = torch.broadcast_shapes(*(t.shape[:-2] for t in (self.query, key, value)))
        q, k, v = (t.expand(*lead, *t.shape[-2:]) for t in (self.query, key, value))
        return q, k, v

    def __repr__(self) -> str:
        shapes = ", ".join(str(tuple(t.shape)) for t in (self.query, self.key, self.value))
        return f"Case({shapes}, groups={self.groups}, mask={self.mask})"


@st.composite
def cases(draw: st.DrawFn, *, dtype: torch.dtype | None = None) -> Case:
    """0 to 3 leading axes, some to broadcast; any number of queries and keys; any mask."""
    dtype = draw(dtypes) if dtype is None else dtype
    lead = draw(st.lists(st.integers(1, 3), max_size=3))
    q, k, d, w = (draw(st.integers(1, 6)) for _ in range(4))
    groups = draw(st.integers(1, 3)) if lead else 1
    heads = [*lead[:-1], lead[-1] * groups] if lead else []
    torch.manual_seed(draw(st.integers(0, 2**31)))
    query = torch.randn(*heads, q, d, dtype=dtype)
    key, value = (
        torch.randn(*_some_ones(draw, lead, keep=groups > 1), k, n, dtype=dtype) for n in (d, w)
    )
    return Case(query, key, value, draw(masks(heads, q, k)), groups)


@st.composite
def masks(draw: st.DrawFn, lead: list[int], queries: int, keys: int) -> Mask | Tensor | None:
    """Nothing, causal, a window, any boolean tensor that broadcasts, or several of them."""
    kind = draw(st.sampled_from(["none", "tensor", "rules", "rules", "rules"]))
    if kind == "none":
        return None
    if kind == "tensor":
        return draw(booleans(lead, queries, keys))
    mask = Mask()
    if draw(st.booleans()):
        mask &= causal()
    if draw(st.booleans()):
        mask &= window(draw(st.integers(0, 4)), draw(st.none() | st.integers(0, 4)))
    if draw(st.booleans()):
        mask &= Mask(allowed=draw(booleans(lead, queries, keys)))
    return mask


@st.composite
def booleans(draw: st.DrawFn, lead: list[int], queries: int, keys: int) -> Tensor:
    """A boolean tensor that broadcasts to (*lead, queries, keys), fully masked rows and all."""
    own = lead[draw(st.integers(0, len(lead))) :]
    shape = [*_some_ones(draw, own), draw(st.sampled_from([1, queries])), keys]
    if len(shape) == 2 and shape[0] == 1 and draw(st.booleans()):
        shape = [keys]
    chance = draw(st.sampled_from([0.2, 0.6, 0.9]))
    return torch.rand(shape) < chance


def _some_ones(draw: st.DrawFn, lead: list[int], *, keep: bool = False) -> list[int]:
    ones = [draw(st.sampled_from([False, False, True])) for _ in lead]
    if keep and ones:
        ones[-1] = False  # the heads of a group must all be there
    return [1 if one else n for n, one in zip(lead, ones, strict=True)]


def numpy_attend(
    query: Tensor, key: Tensor, value: Tensor, allowed: Tensor | None, scale: float | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Context and weights by the definition, in float64, row by row where a row has any key."""
    q, k, v = (t.detach().double().cpu().numpy() for t in (query, key, value))
    scores = q @ np.swapaxes(k, -1, -2) * (1 / math.sqrt(q.shape[-1]) if scale is None else scale)
    visible = np.broadcast_to(True if allowed is None else allowed.cpu().numpy(), scores.shape)
    weights = np.zeros_like(scores)
    for row in np.ndindex(scores.shape[:-1]):
        seen = visible[row]
        if seen.any():
            powers = np.exp(scores[row][seen] - scores[row][seen].max())
            weights[row][seen] = powers / powers.sum()
    return weights @ v, weights
