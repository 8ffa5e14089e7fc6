"""Attention in PyTorch, as it is written and is wrong: each makes one usual mistake."""

from __future__ import annotations

import math
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

Mask = Tensor | None


def not_scaled(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    scores = query @ key.transpose(-2, -1)
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return scores.softmax(-1) @ value


def by_d_k(query: Tensor, key: Tensor, value: Tensor, mask: Mask = None) -> Tensor:
    scores = query @ key.mT / query.size(-1)
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return scores.softmax(-1) @ value


def multiplied(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = q @ k.mT * math.sqrt(q.size(-1))
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return F.softmax(scores, dim=-1) @ v


def by_number_of_keys(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = q @ k.mT / k.shape[-2] ** 0.5
    if mask is not None:
        scores = scores.masked_fill(mask == 0, -1e9)
    return F.softmax(scores, dim=-1) @ v


def over_queries(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> tuple[Tensor, Tensor]:
    scores = torch.einsum("...qd,...kd->...qk", q, k) / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = torch.softmax(scores, dim=-2)
    return weights @ v, weights


def over_axis_one(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -1e9)
    return F.softmax(scores, dim=1) @ v


def masked_late(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    weights = F.softmax(q @ k.mT / math.sqrt(k.shape[-1]), dim=-1)
    if mask is not None:
        weights = weights * mask
    return weights @ v


def mask_forgotten(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    return F.softmax(q @ k.mT / math.sqrt(k.shape[-1]), dim=-1) @ v


def mask_inverted(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(mask, -1e9)
    return scores.softmax(-1) @ v


def masked_to_zero(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores * mask
    return scores.softmax(-1) @ v


def tiny_number(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, 1e-9)  # a minus is missing
    return scores.softmax(-1) @ v


def empty_rows(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    return scores.softmax(-1) @ v


def empty_gradients(q: Tensor, k: Tensor, v: Tensor, mask: Mask = None) -> Tensor:
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    if mask is not None:
        scores = scores + torch.zeros(mask.shape, dtype=q.dtype).masked_fill(~mask, -math.inf)
    return scores.softmax(-1).nan_to_num(0.0) @ v


def each_alone(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return torch.sigmoid(q @ k.mT / math.sqrt(k.shape[-1])) @ v


def no_softmax(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return q @ k.mT / math.sqrt(k.shape[-1]) @ v


def scaled_late(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT).softmax(-1) / math.sqrt(k.shape[-1]) @ v


def key_for_value(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT / math.sqrt(k.shape[-1])).softmax(-1) @ k


def weights_turned(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    weights = (q @ k.mT / math.sqrt(k.shape[-1])).softmax(-1)
    return weights.mT @ v if weights.shape[-1] == weights.shape[-2] else weights @ v


def overflows(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    raised = torch.exp(q @ k.mT / math.sqrt(k.shape[-1]))
    return raised / raised.sum(-1, keepdim=True) @ v


def detached(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT / math.sqrt(k.shape[-1])).softmax(-1).detach() @ v


def in_place(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    with torch.no_grad():
        q /= math.sqrt(k.shape[-1])
    return (q @ k.mT).softmax(-1) @ v


def dropped(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return F.dropout((q @ k.mT / math.sqrt(k.shape[-1])).softmax(-1), 0.5) @ v


def leaks(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    n = q.shape[-2]
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    later = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=2)
    return scores.masked_fill(later, float("-inf")).softmax(-1) @ v


def not_itself(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    n = q.shape[-2]
    scores = q @ k.mT / math.sqrt(k.shape[-1])
    later = torch.triu(torch.ones(n, n, dtype=torch.bool))
    return scores.masked_fill(later, float("-inf")).softmax(-1).nan_to_num(0) @ v


def two_at_once(q: Tensor, k: Tensor, v: Tensor) -> Tensor:
    return (q @ k.mT / k.shape[-1]).softmax(-2) @ v


class Heads(nn.Module):
    """Multi-head attention that lays the heads side by side in the wrong order."""

    def __init__(self, d_model: int, num_heads: int) -> None:
        super().__init__()
        self.num_heads = num_heads
        self.q_proj = nn.Linear(d_model, d_model)
        self.k_proj = nn.Linear(d_model, d_model)
        self.v_proj = nn.Linear(d_model, d_model)
        self.out_proj = nn.Linear(d_model, d_model)

    def split(self, x: Tensor) -> Tensor:
        b, n, d = x.shape
        return x.view(b, n, self.num_heads, d // self.num_heads).transpose(1, 2)

    def joined(self, c: Tensor) -> Tensor:
        return c.permute(0, 2, 3, 1).flatten(2)

    def weigh(self, scores: Tensor, width: int) -> Tensor:
        return (scores / math.sqrt(width)).softmax(-1)

    def forward(self, x: Tensor, mask: Mask = None) -> Tensor:
        q, k, v = (self.split(p(x)) for p in (self.q_proj, self.k_proj, self.v_proj))
        scores = q @ k.mT
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        made: Tensor = self.out_proj(self.joined(self.weigh(scores, q.shape[-1]) @ v))
        return made


class WidthOfAll(Heads):
    """Scales by the whole width, not by a head's."""

    def joined(self, c: Tensor) -> Tensor:
        return c.transpose(1, 2).flatten(2)

    def weigh(self, scores: Tensor, width: int) -> Tensor:
        return (scores / math.sqrt(width * self.num_heads)).softmax(-1)


class NoOutput(WidthOfAll):
    """Has W_O and does not use it."""

    def weigh(self, scores: Tensor, width: int) -> Tensor:
        return (scores / math.sqrt(width)).softmax(-1)

    def forward(self, x: Tensor, mask: Mask = None) -> Tensor:
        q, k, v = (self.split(p(x)) for p in (self.q_proj, self.k_proj, self.v_proj))
        scores = q @ k.mT
        if mask is not None:
            scores = scores.masked_fill(~mask, -1e9)
        return self.joined(self.weigh(scores, q.shape[-1]) @ v)


def additive_sigmoid(s: Tensor, h: Tensor, w_a: Tensor, u_a: Tensor, v_a: Tensor) -> Tensor:
    hidden = torch.sigmoid((s @ w_a).unsqueeze(-2) + (h @ u_a).unsqueeze(-3))
    return (hidden @ v_a).softmax(-1) @ h


CASES: list[tuple[Any, dict[str, Any], str, str]] = [
    (not_scaled, {}, "not scaled", "not divided by sqrt(d_k)"),
    (by_d_k, {}, "divided by d_k", "divided by d_k"),
    (multiplied, {}, "multiplied", "multiplied by sqrt(d_k)"),
    (by_number_of_keys, {}, "wrong width", "the number of keys"),
    (over_queries, {}, "wrong axis", "softmax is taken over the queries"),
    (over_axis_one, {}, "axis 1", "Right with two axes; with a batch axis in front"),
    (masked_late, {}, "masked late", "Right without a mask; with one, its numbers are what you "
     "get if the mask is applied after softmax"),
    (mask_forgotten, {}, "no mask", "Right without a mask; with one"),
    (mask_inverted, {}, "mask inverted", "the mask is read the other way round"),
    (masked_to_zero, {}, "masked to zero", "masked scores are set to 0"),
    (tiny_number, {}, "masked to zero", "masked scores are set to 0"),
    (empty_rows, {}, "empty", "NaN in rows that may attend to nothing"),
    (empty_gradients, {}, "gradients", "is NaN"),
    (each_alone, {}, "each alone", "softmax is taken of each score alone"),
    (no_softmax, {}, "no softmax", "softmax is left out"),
    (scaled_late, {}, "scaled late", "the weights, and not the scores"),
    (key_for_value, {}, "key for value", "the key is taken for the value"),
    (weights_turned, {}, "mixed", "rows and columns of weights are mixed up"),
    (overflows, {}, "overflow", "softmax overflows"),
    (detached, {}, "gradients", "no gradient reaches queries"),
    (in_place, {}, "changed", "it changes its own arguments: queries"),
    (dropped, {}, "random", "differently each time"),
    (leaks, {"causal": True}, "leaks the next word", "each word sees the next one"),
    (not_itself, {"causal": True}, "not itself", "no word sees itself"),
    (mask_forgotten, {"causal": True}, "no mask", "the mask is forgotten"),
    (two_at_once, {}, "divided by d_k, wrong axis", "not by its root, and softmax is taken over"),
    (Heads, {"mechanism": "multihead"}, "heads' order", "concatenated in the wrong order"),
    (WidthOfAll, {"mechanism": "multihead"}, "wrong width", "the width of all heads"),
    (NoOutput, {"mechanism": "multihead"}, "no W_O", "W_O is forgotten"),
    (additive_sigmoid, {"mechanism": "additive"}, "sigmoid", "a sigmoid is taken for tanh"),
]  # fmt: skip
"""The function, how it is checked, the fault's name, and part of what is said."""
