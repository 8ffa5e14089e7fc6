"""Self scan: the loop over time of the simple RNN with self-attention, its gradient written out.

It computes what the loop in selfattentive.py computes, for training, by the means of lstmnscan.py.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class Matrices(NamedTuple):
    """The matrices that act inside the loop, each (hidden, hidden)."""

    recurrent: Tensor
    """A's part for c_{t-1}."""
    previous: Tensor | None
    """A's part for h_{t-1}, if it has one."""
    w_key: Tensor
    w_query: Tensor
    v: Tensor | None
    """(hidden,) of the additive score; None: the dot product."""


def self_scan(
    inputs: Tensor,
    values: Tensor,
    keys: Tensor,
    context: Tensor,
    allowed: Tensor | None,
    real: Tensor | None,
    window: int | None,
    matrices: Matrices,
) -> tuple[Tensor, Tensor]:
    """The tape h_i (batch, m + n, hidden) after n words, and the last c.

    ``inputs`` (n, batch, hidden) are projected; ``values`` (batch, m, hidden), their ``keys`` and
    ``context`` c what was read before; ``allowed`` (batch, m + n) is False at slots without a
    word, ``real`` (n, batch, 1) at padding.
    """
    tape, last = _Scan.apply(  # type: ignore[no-untyped-call]
        inputs, values, keys, context, allowed, real, window, *matrices
    )
    return tape, last


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        values: Tensor,
        keys: Tensor,
        context: Tensor,
        allowed: Tensor | None,
        real: Tensor | None,
        window: int | None,
        recurrent: Tensor,
        previous: Tensor | None,
        w_key: Tensor,
        w_query: Tensor,
        v: Tensor | None,
    ) -> tuple[Tensor, Tensor]:
        n, m, (batch, hidden) = inputs.shape[0], values.shape[1], context.shape
        tape, tape_keys = (
            torch.cat((start, start.new_empty(batch, n, hidden)), 1) for start in (values, keys)
        )
        weights, queries = inputs.new_zeros(n, batch, m + n), torch.empty_like(inputs)
        before = inputs.new_empty(n + 1, batch, hidden)
        before[0] = context
        forbidden = None if allowed is None else ~allowed
        for t in range(n):
            s = m + t
            seen = slice(0 if window is None else max(s + 1 - window, 0), s + 1)
            h = torch.addmm(inputs[t], before[t], recurrent.t())
            if previous is not None and s:
                h.addmm_(tape[:, s - 1], previous.t())
            tape[:, s] = h.tanh_()
            tape_keys[:, s] = h @ w_key.t()
            torch.mm(h, w_query.t(), out=queries[t])
            if v is None:
                e = torch.bmm(tape_keys[:, seen], queries[t].unsqueeze(-1)).squeeze(-1)
            else:
                e = (tape_keys[:, seen] + queries[t].unsqueeze(1)).tanh_() @ v
            if forbidden is not None:  # the word itself is always seen
                e.masked_fill_(forbidden[:, seen], -math.inf)
            a = e.softmax(-1)
            weights[t, :, seen] = a
            c = torch.bmm(a.unsqueeze(1), tape[:, seen]).squeeze(1)
            before[t + 1] = c if real is None else torch.where(real[t], c, before[t])
        ctx.save_for_backward(
            tape, tape_keys, weights, queries, before, real, recurrent, previous, w_key, w_query, v
        )
        ctx.window = window
        return tape, before[n].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_tape: Tensor, d_c: Tensor) -> tuple[Tensor | None, ...]:
        tape, keys, weights, queries, before, real, *matrices = ctx.saved_tensors
        recurrent, previous, w_key, w_query, v = matrices
        n, batch, hidden = queries.shape
        m = tape.shape[1] - n
        d_inputs, d_queries = torch.empty_like(queries), torch.empty_like(queries)
        d_mixed = tape.new_empty(batch, n, hidden)
        d_scores = torch.zeros_like(weights)
        looks = _Looks(keys, queries, d_scores, v)
        by_word = weights.permute(1, 2, 0)  # (batch, slot, step)
        for t in range(n - 1, -1, -1):
            s = m + t
            seen = slice(0 if ctx.window is None else max(s + 1 - ctx.window, 0), s + 1)
            d_mixed[:, t] = d_c if real is None else d_c.masked_fill(~real[t], 0)
            a = weights[t, :, seen]
            d_a = torch.bmm(tape[:, seen], d_mixed[:, t].unsqueeze(-1)).squeeze(-1).mul_(a)
            d_scores[t, :, seen] = d_a - a * d_a.sum(-1, keepdim=True)
            d_queries[t] = looks.backward(t, seen)
            d_h = torch.bmm(by_word[:, s : s + 1, t:], d_mixed[:, t:]).squeeze(1)
            d_h.add_(d_tape[:, s]).addmm_(looks.d_key(s, t), w_key).addmm_(d_queries[t], w_query)
            if previous is not None and t + 1 < n:
                d_h.addmm_(d_inputs[t + 1], previous)
            torch.mul(d_h, 1 - tape[:, s].square(), out=d_inputs[t])
            kept = torch.zeros_like(d_c) if real is None else d_c.masked_fill(real[t], 0)
            d_c = kept.addmm_(d_inputs[t], recurrent)
        d_values = torch.baddbmm(d_tape[:, :m], by_word[:, :m], d_mixed)
        d_previous = None
        if previous is not None:
            first = 0 if m else 1  # before the first word of all there is no state
            states = tape[:, m + first - 1 : -1].transpose(0, 1)
            d_previous = d_inputs[first:].flatten(0, 1).t() @ states.flatten(0, 1)
            if m:
                d_values[:, m - 1].addmm_(d_inputs[0], previous)
        d_keys, states = looks.d_keys(), tape[:, m:].transpose(0, 1).flatten(0, 1)
        return (
            d_inputs, d_values, d_keys[:, :m], d_c, None, None, None,
            d_inputs.flatten(0, 1).t() @ before[:-1].flatten(0, 1),
            d_previous,
            d_keys[:, m:].transpose(0, 1).flatten(0, 1).t() @ states,
            d_queries.flatten(0, 1).t() @ states,
            looks.d_v,
        )  # fmt: skip


class _Looks:
    """The gradients of the scores, which ``d_scores`` (n, batch, slots) holds, step by step."""

    def __init__(self, keys: Tensor, queries: Tensor, d_scores: Tensor, v: Tensor | None) -> None:
        self.keys, self.queries, self.d_scores, self.v = keys, queries, d_scores, v
        self.d_v = None if v is None else torch.zeros_like(v)
        self.d_squares = None if v is None else torch.zeros_like(keys)

    def backward(self, t: int, seen: slice) -> Tensor:
        """The gradient of step t's query."""
        d_e, keys = self.d_scores[t, :, seen], self.keys[:, seen]
        if self.v is None or self.d_v is None or self.d_squares is None:
            return torch.bmm(d_e.unsqueeze(1), keys).squeeze(1)
        bent = (keys + self.queries[t].unsqueeze(1)).tanh_()
        self.d_v.addmv_(bent.view(-1, bent.shape[-1]).t(), d_e.flatten())
        squares = bent.square_()
        self.d_squares[:, seen].addcmul_(squares, d_e.unsqueeze(-1))
        # d_e sums to 0, so of the slope 1 − tanh² only the square is left.
        return torch.bmm(d_e.unsqueeze(1), squares).squeeze(1).mul_(-self.v)

    def d_key(self, slot: int, t: int) -> Tensor:
        """The gradient of one key when all steps from t on are done, which are all that see it."""
        d_e = self.d_scores[t:, :, slot]
        if self.v is None or self.d_squares is None:
            return torch.einsum("tb,tbh->bh", d_e, self.queries[t:])
        return (d_e.sum(0).unsqueeze(-1) - self.d_squares[:, slot]).mul_(self.v)

    def d_keys(self) -> Tensor:
        """Those of all keys, at the end."""
        if self.v is None or self.d_squares is None:
            return torch.einsum("tbs,tbh->bsh", self.d_scores, self.queries)
        return (self.d_scores.sum(0).unsqueeze(-1) - self.d_squares).mul_(self.v)
