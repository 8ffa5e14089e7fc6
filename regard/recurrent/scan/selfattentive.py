"""Self-attentive scan: the loop of the simple RNN with self-attention, its gradient written out.

It computes what the loop in recurrent/selfattentive.py computes, by the means of scan/lstmn.py.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from regard.attention.kernel.scan import SELFATTENTIVE, additive_scan
from regard.recurrent.scan.attention import TapeAttention, TapeBackward, TapeScores
from regard.recurrent.scan.product import long_product
from regard.recurrent.scan.tape import (
    ResultGradient,
    SlotGradients,
    TapeLimits,
    TapeScan,
    TapeStart,
    TapeSteps,
    extended,
    last_summary,
    last_summary_backward,
    no_weights,
)


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


class SelfAttentiveScan:
    """Words read onto the tape h_i; the summary is c."""

    @staticmethod
    def forward(start: TapeStart, matrices: SelfAttentiveMatrices) -> tuple[TapeScan, TapeSteps]:
        limits, x, values, keys, context = start
        inputs, bias, recurrent, previous, w_key, w_query, v = matrices
        (n, batch, _), m, hidden = x.shape, values.shape[1], context.shape[-1]
        sums = long_product(x.flatten(0, 1), inputs.t()).add_(bias).view(n, batch, hidden)
        tape, tape_keys = extended(values, n), extended(keys, n)
        weights, queries = no_weights(x, m + n), torch.empty_like(sums)
        contexts = torch.empty_like(sums)
        scores = TapeScores(tape_keys, queries, v)
        attention = TapeAttention(scores, tape, weights, contexts, limits.forbidden)
        own = SELFATTENTIVE, limits.window, sums, context
        native = additive_scan(attention.native, *own, recurrent, w_key, w_query, previous)
        if native:
            native.read()
        else:
            _read(attention, limits, sums, context, matrices)
        last, states = last_summary(contexts, context, limits.lengths), tape[:, m:].transpose(0, 1)
        steps = TapeSteps(tape, tape_keys, weights, contexts, queries)
        return TapeScan(states, tape, last, tape_keys), steps

    @staticmethod
    def backward(
        start: TapeStart, steps: TapeSteps, given: ResultGradient, matrices: SelfAttentiveMatrices
    ) -> tuple[Tensor | None, ...]:
        limits, x, _, _, context = start
        tape, keys, weights, contexts, queries = steps
        inputs, _, recurrent, previous, w_key, w_query, v = matrices
        n, batch, hidden = queries.shape
        m = tape.shape[1] - n
        d_sums, d_queries = torch.empty_like(queries), torch.empty_like(queries)
        d_mixed = tape.new_zeros(batch, n, hidden)
        d_context = last_summary_backward(given.summary, d_mixed, limits.lengths)
        scores, slots = TapeScores(keys, queries, v), SlotGradients(weights, d_mixed)
        attention = TapeBackward(scores, tape, weights, contexts, d_mixed, d_queries)
        own = SELFATTENTIVE, limits.window, d_sums, context
        native = additive_scan(attention.native, *own, recurrent, w_key, w_query, previous)
        if native:
            native.read_back(d_sums, given.states, given.tape)
        else:
            _read_back(attention, slots, given, limits, d_sums, matrices)
        d_context.addmm_(d_sums[0], recurrent)
        d_keys, d_values = attention.d_keys(), given.add_to_first(m, slots.up_to(m))
        d_previous = None
        if previous is not None:
            first = 0 if m else 1  # before the first word of all there is no state
            states = tape[:, m + first - 1 : -1].transpose(0, 1)
            d_previous = long_product(d_sums[first:].flatten(0, 1).t(), states.flatten(0, 1))
            if m:
                d_values[:, m - 1].addmm_(d_sums[0], previous)
        d_all, states = d_sums.flatten(0, 1), tape[:, m:].transpose(0, 1).flatten(0, 1)
        before = torch.cat((context.unsqueeze(0), contexts[:-1])).flatten(0, 1)
        return (
            long_product(d_all, inputs).view_as(x),
            d_values, d_keys[:, :m], d_context,
            long_product(d_all.t(), x.flatten(0, 1)),
            d_all.sum(0),
            long_product(d_all.t(), before),
            d_previous,
            long_product(d_keys[:, m:].flatten(0, 1).t(), tape[:, m:].flatten(0, 1)),
            long_product(d_queries.flatten(0, 1).t(), states),
            attention.d_v(),
        )  # fmt: skip


def _read(
    attention: TapeAttention,
    limits: TapeLimits,
    sums: Tensor,
    context: Tensor,
    matrices: SelfAttentiveMatrices,
) -> None:
    """The steps."""
    tape, keys, queries = attention.values, attention.scores.keys, attention.scores.queries
    _, _, recurrent, previous, w_key, w_query, _ = matrices
    n, c = len(sums), context
    for t, (total, mixed) in enumerate(zip(sums, attention.mixed, strict=True)):
        s = tape.shape[1] - n + t
        total.addmm_(c, recurrent.t())
        if previous is not None and s:
            total.addmm_(tape[:, s - 1], previous.t())
        h = torch.tanh(total, out=tape[:, s])
        torch.mm(h, w_key.t(), out=keys[:, s])
        torch.mm(h, w_query.t(), out=queries[t])
        attention.attend(t, limits.seen(s + 1))
        c = mixed


def _read_back(
    attention: TapeBackward,
    slots: SlotGradients,
    given: ResultGradient,
    limits: TapeLimits,
    d_sums: Tensor,
    matrices: SelfAttentiveMatrices,
) -> None:
    """The steps, from the last to the first."""
    tape, d_mixed = attention.values, slots.rows
    _, _, recurrent, previous, w_key, w_query, _ = matrices
    n = len(d_sums)
    for t in range(n - 1, -1, -1):
        s = tape.shape[1] - n + t
        if t + 1 < n:
            d_mixed[:, t].addmm_(d_sums[t + 1], recurrent)
        attention.attend(t, limits.seen(s + 1))
        d_h = slots.at(s, t)
        given.add_to(d_h, t, s)
        d_h.addmm_(attention.d_key(s, t), w_key).addmm_(attention.d_queries[t], w_query)
        if previous is not None and t + 1 < n:
            d_h.addmm_(d_sums[t + 1], previous)
        h = tape[:, s]
        torch.addcmul(d_h, d_h * h, h, value=-1, out=d_sums[t])
