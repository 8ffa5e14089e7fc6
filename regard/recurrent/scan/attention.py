"""Attention to a tape: the steps of a scan attend to the words on it, and the gradient of that.

Most of the time of recurrent self-attention goes here, into tanh(k_i + q_t) over all pairs: hidden
numbers for each of them. They are never kept, and made again in the gradient: by the native kernel,
which has them in registers, or by PyTorch, a few sequences at a time, in a scratch that stays in
the cache.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from regard.attention.kernel.additive import AdditiveLook, usable
from regard.recurrent.scan.tape import SlotGradients

SCRATCH = 1 << 18
"""How many numbers are made at a time: 1 MB of float32."""


class TapeScores:
    """e[t,i] = v · tanh(k_i + q_t), or without v: k_i · q_t, by PyTorch's operations.

    ``keys`` (batch, slots, hidden), ``queries`` (n, batch, hidden), ``v`` (hidden,). With v there
    may be a ``recency`` (1,), which is added to the score of the newest slot that a step sees.
    """

    def __init__(
        self, keys: Tensor, queries: Tensor, v: Tensor | None, recency: Tensor | None = None
    ) -> None:
        self.keys, self.queries, self.v, self.recency = keys, queries, v, recency
        self.twice = None if v is None else 2 * v
        self.scratch: Tensor | None = None

    def at(self, t: int, seen: slice) -> Tensor:
        """e (batch, seen) of step t; with v all are larger by the sum of v, for which a softmax
        does not care."""
        keys = self.keys[:, seen]
        if self.twice is None:
            return torch.bmm(self.queries[t].unsqueeze(1), keys.transpose(1, 2)).squeeze(1)
        e = keys.new_empty(keys.shape[:2])
        for rows, shares in self.shares(t, seen):
            torch.mv(shares.flatten(0, 1), self.twice, out=e[rows].view(-1))
        if self.recency is not None:
            e[:, -1:] += self.recency
        return e

    def shares(self, t: int, seen: slice) -> Iterator[tuple[slice, Tensor]]:
        """y = sigmoid(2 (k_i + q_t)), a few sequences at a time, each over the ones before.

        tanh x = 2 y − 1 and its derivative 4 (y − y²): what is to be done to every y is done to
        their sums instead, and PyTorch's sigmoid takes a fifth of its tanh's time.
        """
        keys, query = self.keys[:, seen], self.queries[t] * 2
        batch, size, hidden = keys.shape
        if self.scratch is None:
            self.scratch = keys.new_empty(max(SCRATCH, self.keys.shape[1] * hidden))
        few = max(1, SCRATCH // max(size * hidden, 1))
        for first in range(0, batch, few):
            rows = slice(first, min(first + few, batch))
            count = rows.stop - first
            made = self.scratch[: count * size * hidden].view(count, size, hidden)
            torch.add(query[rows].unsqueeze(1), keys[rows], alpha=2, out=made)
            yield rows, made.sigmoid_()


class TapeAttention:
    """e[t,i] = v · tanh(k_i + q_t), or without v: k_i · q_t;  a_t = softmax(e_t),
    mixed_t = sum_i a[t,i] value_i.

    ``scores`` has the keys, the queries and v; keys and queries, and the ``values`` (batch, slots,
    width), may be filled as the steps go on. Each step writes its weights into ``weights`` (n,
    batch, slots), zeros where ``forbidden`` (batch, slots), and what it finds into ``mixed`` (n,
    batch, width).
    """

    def __init__(
        self,
        scores: TapeScores,
        values: Tensor,
        weights: Tensor,
        mixed: Tensor,
        forbidden: Tensor | None,
    ) -> None:
        self.scores, self.native = scores, None
        self.values, self.weights, self.mixed, self.forbidden = values, weights, mixed, forbidden
        keys, queries, v = scores.keys, scores.queries, scores.v
        if v is not None and (it := usable(keys, queries, v, values, weights, mixed)):
            given = keys, queries, v, values, weights, mixed, forbidden
            self.native = AdditiveLook(it, *given, recency=scores.recency)

    def attend(self, t: int, seen: slice) -> None:
        """Step t, to the slots ``seen``."""
        if self.native is not None:
            self.native.look(t, seen)
            return
        e, a = self.scores.at(t, seen), self.weights[t, :, seen]
        if self.forbidden is None:
            torch.softmax(e, -1, out=a)
        else:  # a row of nothing but -inf becomes NaN, then zeros
            no = self.forbidden[:, seen]
            torch.softmax(e.masked_fill_(no, -math.inf), -1, out=a)
            a.masked_fill_(no, 0)
        torch.bmm(a.unsqueeze(1), self.values[:, seen], out=self.mixed[t].unsqueeze(1))


class TapeBackward:
    """The gradient of :class:`TapeAttention`, from the last step to the first.

    ``mixed`` (n, batch, width) is what the steps found. Its gradient ``d_mixed`` (batch, n, width)
    is read and ``d_queries`` (n, batch, hidden) written as the steps go on.
    """

    def __init__(
        self,
        scores: TapeScores,
        values: Tensor,
        weights: Tensor,
        mixed: Tensor,
        d_mixed: Tensor,
        d_queries: Tensor,
    ) -> None:
        self.scores, self.v, self.native = scores, scores.v, None
        self.values, self.weights, self.d_queries = values, weights, d_queries
        self.d_mixed = d_mixed.transpose(0, 1)
        keys, queries, v = scores.keys, scores.queries, scores.v
        (batch, slots, hidden), n = keys.shape, queries.shape[0]
        # A key's gradient is v · (sum of d_e − sum of d_e tanh²): the kernel makes the two sums,
        # PyTorch their difference, as the second one. That of a dot product is the sum of d_e q.
        self.d_scores = keys.new_zeros(1 if v is not None else n, batch, slots)
        if v is None:
            self.key_gradients = SlotGradients(self.d_scores, queries.transpose(0, 1))
            return
        self.d_squares, self.d_vs = torch.zeros_like(keys), keys.new_zeros(batch, hidden)
        self.d_newest = None if scores.recency is None else keys.new_zeros(batch)
        given = keys, queries, v, values, weights, mixed
        if it := usable(*given, self.d_mixed, d_queries, self.d_squares):
            back = self.d_mixed, d_queries, self.d_scores[0], self.d_squares, self.d_vs
            ends = scores.recency, self.d_newest
            self.native = AdditiveLook(it, *given, None, *back, *ends)

    def attend(self, t: int, seen: slice) -> None:
        """Write the gradient of step t's query, from that of what it found."""
        if self.native is not None:
            self.native.look_back(t, seen)
            return
        a, d_mix = self.weights[t, :, seen], self.d_mixed[t].unsqueeze(1)
        d_a = torch.bmm(d_mix, self.values[:, seen].transpose(1, 2)).squeeze(1).mul_(a)
        d_e = d_a.addcmul_(a, d_a.sum(-1, keepdim=True), value=-1)
        if self.v is None:
            self.d_scores[t, :, seen] = d_e
            found = torch.bmm(d_e.unsqueeze(1), self.scores.keys[:, seen])
            self.d_queries[t] = found.squeeze(1)
            return
        if self.d_newest is not None:
            self.d_newest += d_e[:, -1:].sum(-1)
        slope = torch.empty_like(self.d_vs)
        for rows, shares in self.scores.shares(t, seen):
            few = d_e[rows].unsqueeze(1)
            self.d_vs[rows].unsqueeze(1).baddbmm_(few, shares, alpha=2)  # d_e sums to 0
            shares.addcmul_(shares, shares, value=-1)
            self.d_squares[rows, seen].addcmul_(shares, few.transpose(1, 2), value=-4)
            torch.bmm(few, shares, out=slope[rows].unsqueeze(1))
        torch.mul(slope, 4 * self.v, out=self.d_queries[t])

    def d_key(self, slot: int, t: int) -> Tensor:
        """The gradient of one key when all steps from t on are done, which are all that see it."""
        if self.v is None:
            return self.key_gradients.at(slot, t)
        return (self.d_scores[0, :, slot, None] - self.d_squares[:, slot]).mul_(self.v)

    def d_keys(self) -> Tensor:
        """Those of all keys, at the end."""
        if self.v is None:
            return self.key_gradients.up_to(self.d_scores.shape[2])
        return (self.d_scores[0].unsqueeze(-1) - self.d_squares).mul_(self.v)

    def d_v(self) -> Tensor | None:
        """That of v, at the end."""
        return None if self.v is None else self.d_vs.sum(0)

    def d_recency(self) -> Tensor | None:
        """That of the recency (1,), at the end."""
        return None if self.d_newest is None else self.d_newest.sum(0, keepdim=True)
