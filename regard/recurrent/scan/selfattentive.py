"""Self scan: the loop over time of the simple RNN with self-attention, its gradient written out.

It computes what the loop in selfattentive.py computes, by the means of lstmnscan.py.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.recurrent.scan.additive import TapeAttention, TapeBackward
from regard.recurrent.scan.received import Received
from regard.recurrent.scan.result import Given, Scanned, extended, last, spread


class SelfAttentiveMatrices(NamedTuple):
    """The weights of a layer; (hidden, hidden) unless said otherwise."""

    inputs: Tensor
    """A's part for x_t (hidden, width)."""
    bias: Tensor
    """b (hidden,)."""
    recurrent: Tensor
    """A's part for c_{t-1}."""
    previous: Tensor | None
    """A's part for h_{t-1}, if it has one."""
    w_key: Tensor
    w_query: Tensor
    v: Tensor | None
    """(hidden,) of the additive score; None: the dot product."""


def self_scan(
    x: Tensor,
    values: Tensor,
    keys: Tensor,
    context: Tensor,
    allowed: Tensor | None,
    lengths: Tensor | None,
    window: int | None,
    matrices: SelfAttentiveMatrices,
) -> Scanned:
    """Read ``x`` (n, batch, width) onto the tape h_i.

    ``values`` (batch, m, hidden), their ``keys`` and ``context`` c are what was read before;
    ``allowed`` (batch, m + n) is False at slots without a word; ``lengths`` (batch,) says how many
    positions of each sequence are real.
    """
    return Scanned(
        *_SelfAttentiveScan.apply(  # type: ignore[no-untyped-call]
            x, values, keys, context, allowed, lengths, window, *matrices
        )
    )


class _SelfAttentiveScan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        values: Tensor,
        keys: Tensor,
        context: Tensor,
        allowed: Tensor | None,
        lengths: Tensor | None,
        window: int | None,
        *matrices: Tensor,
    ) -> tuple[Tensor, ...]:
        inputs, bias, recurrent, previous, w_key, w_query, v = matrices
        (n, batch, _), m, hidden = x.shape, values.shape[1], context.shape[-1]
        sums = torch.addmm(bias, x.flatten(0, 1), inputs.t()).view(n, batch, hidden)
        tape, tape_keys = extended(values, n), extended(keys, n)
        weights, queries = x.new_zeros(n, batch, m + n), torch.empty_like(sums)
        contexts = torch.empty_like(sums)
        forbidden = None if allowed is None else ~allowed
        looks = TapeAttention(tape_keys, queries, v, tape, weights, contexts, forbidden)
        c = context
        for t, (total, mixed) in enumerate(zip(sums, contexts, strict=True)):
            s = m + t
            seen = slice(0 if window is None else max(s + 1 - window, 0), s + 1)
            total.addmm_(c, recurrent.t())
            if previous is not None and s:
                total.addmm_(tape[:, s - 1], previous.t())
            h = torch.tanh(total, out=tape[:, s])
            torch.mm(h, w_key.t(), out=tape_keys[:, s])
            torch.mm(h, w_query.t(), out=queries[t])
            looks.look(t, seen)
            c = mixed
        ctx.save_for_backward(
            x, tape, tape_keys, weights, queries, contexts, context, lengths, *matrices
        )
        ctx.window = window
        ctx.mark_non_differentiable(tape_keys)
        ctx.set_materialize_grads(False)
        return tape[:, m:].transpose(0, 1), tape, last(contexts, context, lengths), tape_keys

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, d_states: Tensor | None, d_tape: Tensor | None, d_last: Tensor | None, _: None
    ) -> tuple[Tensor | None, ...]:
        x, tape, keys, weights, queries, contexts, context, lengths, *matrices = ctx.saved_tensors
        inputs, _, recurrent, previous, w_key, w_query, v = matrices
        n, batch, hidden = queries.shape
        m = tape.shape[1] - n
        d_sums, d_queries = torch.empty_like(queries), torch.empty_like(queries)
        d_mixed = tape.new_zeros(batch, n, hidden)
        d_context = spread(d_last, d_mixed, lengths)
        slopes = TapeBackward(keys, queries, v, tape, weights, d_mixed, d_queries)
        received = Received(weights, d_mixed)
        given = Given(d_states, d_tape)
        for t in range(n - 1, -1, -1):
            s = m + t
            seen = slice(0 if ctx.window is None else max(s + 1 - ctx.window, 0), s + 1)
            if t + 1 < n:
                d_mixed[:, t].addmm_(d_sums[t + 1], recurrent)
            slopes.look_back(t, seen)
            d_h = received.at(s, t)
            given.add_to(d_h, t, s)
            d_h.addmm_(slopes.d_key(s, t), w_key).addmm_(d_queries[t], w_query)
            if previous is not None and t + 1 < n:
                d_h.addmm_(d_sums[t + 1], previous)
            h = tape[:, s]
            torch.addcmul(d_h, d_h * h, h, value=-1, out=d_sums[t])
        d_context.addmm_(d_sums[0], recurrent)
        d_keys, d_values = slopes.d_keys(), given.of_first(m, received.up_to(m))
        d_previous = None
        if previous is not None:
            first = 0 if m else 1  # before the first word of all there is no state
            states = tape[:, m + first - 1 : -1].transpose(0, 1)
            d_previous = d_sums[first:].flatten(0, 1).t() @ states.flatten(0, 1)
            if m:
                d_values[:, m - 1].addmm_(d_sums[0], previous)
        d_all, states = d_sums.flatten(0, 1), tape[:, m:].transpose(0, 1).flatten(0, 1)
        d_recurrent = d_sums[0].t() @ context
        d_recurrent.addmm_(d_sums[1:].flatten(0, 1).t(), contexts[:-1].flatten(0, 1))
        return (
            (d_all @ inputs).view_as(x),
            d_values, d_keys[:, :m], d_context, None, None, None,
            d_all.t() @ x.flatten(0, 1),
            d_all.sum(0),
            d_recurrent,
            d_previous,
            d_keys[:, m:].flatten(0, 1).t() @ tape[:, m:].flatten(0, 1),
            d_queries.flatten(0, 1).t() @ states,
            slopes.d_v(),
        )  # fmt: skip
