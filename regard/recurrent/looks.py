"""Looks: the scores that the steps of a scan give to the words on a tape, and their gradients.

Most of the time of recurrent self-attention goes here, into tanh(k_i + q_t) over all pairs: hidden
numbers for each of them. They are made a few sequences at a time, in a scratch that stays in the
processor's cache, and made again in the gradient instead of being kept.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import torch
from torch import Tensor

from regard.recurrent.received import Received

SCRATCH = 1 << 18
"""How many numbers are made at a time: 1 MB of float32."""


class Looks:
    """e[t,i] = v · tanh(k_i + q_t), or without v: k_i · q_t.

    ``keys`` (batch, slots, hidden) and ``queries`` (n, batch, hidden) may be filled as the steps
    go on.
    """

    def __init__(self, keys: Tensor, queries: Tensor, v: Tensor | None) -> None:
        self.keys, self.queries, self.v = keys, queries, v
        _, slots, hidden = keys.shape
        self.scratch = keys.new_empty(0 if v is None else max(SCRATCH, slots * hidden))

    def weigh(self, t: int, seen: slice, forbidden: Tensor | None, out: Tensor) -> None:
        """Write the weights of step t into ``out`` (batch, seen): zeros where nothing is seen."""
        e = self.scores(t, seen)
        if forbidden is None:
            torch.softmax(e, -1, out=out)
        else:  # a row of nothing but -inf becomes NaN, then zeros
            torch.softmax(e.masked_fill_(forbidden[:, seen], -math.inf), -1, out=out)
            out.masked_fill_(forbidden[:, seen], 0)

    def scores(self, t: int, seen: slice) -> Tensor:
        """e (batch, seen) of step t."""
        keys, query = self.keys[:, seen], self.queries[t]
        if self.v is None:
            return torch.bmm(query.unsqueeze(1), keys.transpose(1, 2)).squeeze(1)
        e = keys.new_empty(keys.shape[:2])
        for rows, bent in self.bent(keys, query):
            torch.mv(bent.flatten(0, 1), self.v, out=e[rows].view(-1))
        return e

    def bent(self, keys: Tensor, query: Tensor) -> Iterator[tuple[slice, Tensor]]:
        """tanh(k_i + q), a few sequences at a time, each over the ones before."""
        batch, size, hidden = keys.shape
        few = max(1, SCRATCH // max(size * hidden, 1))
        for first in range(0, batch, few):
            rows = slice(first, min(first + few, batch))
            count = rows.stop - first
            bent = self.scratch[: count * size * hidden].view(count, size, hidden)
            torch.add(keys[rows], query[rows].unsqueeze(1), out=bent)
            yield rows, bent.tanh_()


class Slopes(Looks):
    """The gradients of the looks, from the last step to the first."""

    def __init__(self, keys: Tensor, queries: Tensor, v: Tensor | None) -> None:
        super().__init__(keys, queries, v)
        (batch, slots, _), n = keys.shape, queries.shape[0]
        # A key's gradient is v · (sum of d_e − sum of d_e tanh²): the two sums. That of a dot
        # product is the sum of d_e q.
        self.d_scores = keys.new_zeros(1 if v is not None else n, batch, slots)
        if v is None:
            self.received = Received(self.d_scores, queries.transpose(0, 1))
        else:
            self.d_v, self.d_squares = torch.zeros_like(v), torch.zeros_like(keys)

    def backward(self, t: int, seen: slice, d_e: Tensor, out: Tensor) -> None:
        """Write the gradient of step t's query, from that of its scores (batch, seen)."""
        keys, query = self.keys[:, seen], self.queries[t]
        if self.v is None:
            self.d_scores[t, :, seen] = d_e
            out.copy_(torch.bmm(d_e.unsqueeze(1), keys).squeeze(1))
            return
        self.d_scores[0, :, seen] += d_e
        squared = torch.empty(query.shape, dtype=query.dtype, device=query.device)
        for rows, bent in self.bent(keys, query):
            few = d_e[rows]
            self.d_v.addmv_(bent.flatten(0, 1).t(), few.flatten())
            squares = bent.square_()
            self.d_squares[rows, seen].addcmul_(squares, few.unsqueeze(-1))
            torch.bmm(few.unsqueeze(1), squares, out=squared[rows].unsqueeze(1))
        # d_e sums to 0, so of the slope 1 − tanh² only the square is left.
        torch.mul(squared, -self.v, out=out)

    def d_key(self, slot: int, t: int) -> Tensor:
        """The gradient of one key when all steps from t on are done, which are all that see it."""
        if self.v is None:
            return self.received.at(slot, t)
        return (self.d_scores[0, :, slot, None] - self.d_squares[:, slot]).mul_(self.v)

    def d_keys(self) -> Tensor:
        """Those of all keys, at the end."""
        if self.v is None:
            return self.received.up_to(self.keys.shape[1])
        return (self.d_scores[0].unsqueeze(-1) - self.d_squares).mul_(self.v)
