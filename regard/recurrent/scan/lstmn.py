"""LSTMN scan: the LSTMN's loop over time, with its gradient written out.

It computes what the loop in recurrent/lstmn.py computes, when nobody looks inside: the inputs of
all words are projected by one product, the tapes are written into tensors that have room for all
words, tanh over all pairs is computed again in the gradient and not kept, and the matrices'
gradients are one product over all steps at the end.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from regard.attention.kernel.scan import LSTMN, additive_scan
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


class LSTMNMatrices(NamedTuple):
    """The weights of a layer."""

    inputs: Tensor
    """W's part for x_t (4 · hidden, width), rows of i, f, c^ and o."""
    bias: Tensor
    """b (4 · hidden,)."""
    recurrent: Tensor
    """W's part for h~_t (4 · hidden, hidden)."""
    w_input: Tensor
    """W_x (hidden, width)."""
    w_key: Tensor
    """W_h (hidden, hidden)."""
    w_summary: Tensor
    """W_h~ (hidden, hidden)."""
    v: Tensor
    """(hidden,)."""
    recency: Tensor | None
    """(1,), or none."""


class LSTMNScan:
    """Words read onto the tape [h_i; c_i]; the summary is h~."""

    @staticmethod
    def forward(start: TapeStart, matrices: LSTMNMatrices) -> tuple[TapeScan, TapeSteps]:
        limits, x, values, keys, summary = start
        inputs, bias, recurrent, w_input, w_key, w_summary, v, recency = matrices
        (n, batch, _), m, hidden = x.shape, values.shape[1], summary.shape[-1]
        sums = long_product(x.flatten(0, 1), torch.cat((inputs, w_input)).t())
        sums = sums.view(n, batch, 5 * hidden)
        gates, queries = sums.split((4 * hidden, hidden), -1)
        gates += bias
        tape, tape_keys = extended(values, n), extended(keys, n)
        weights, mixed = no_weights(x, m + n), x.new_empty(n, batch, 2 * hidden)
        scores = TapeScores(tape_keys, queries, v, recency)
        attention = TapeAttention(scores, tape, weights, mixed, limits.forbidden)
        own = LSTMN, limits.window, gates, summary
        native = additive_scan(attention.native, *own, recurrent, w_key, w_summary)
        if native:
            native.read()
        else:
            _read(attention, limits, gates, summary, matrices)
        last = last_summary(mixed[..., :hidden], summary, limits.lengths)
        states = tape[:, m:, :hidden].transpose(0, 1)
        steps = TapeSteps(tape, tape_keys, weights, mixed, sums)
        return TapeScan(states, tape, last, tape_keys), steps

    @staticmethod
    def backward(
        start: TapeStart, steps: TapeSteps, given: ResultGradient, matrices: LSTMNMatrices
    ) -> tuple[Tensor | None, ...]:
        limits, x, _, _, summary = start
        tape, keys, weights, mixed, sums = steps
        inputs, _, recurrent, w_input, w_key, w_summary, v, recency = matrices
        (n, batch, _), hidden = x.shape, summary.shape[-1]
        m = tape.shape[1] - n
        gates, queries = sums.split((4 * hidden, hidden), -1)
        d_sums, d_mixed = torch.empty_like(sums), tape.new_zeros(batch, n, 2 * hidden)
        d_gates, d_queries = d_sums.split((4 * hidden, hidden), -1)
        d_summary = last_summary_backward(given.summary, d_mixed[..., :hidden], limits.lengths)
        scores, slots = TapeScores(keys, queries, v, recency), SlotGradients(weights, d_mixed)
        attention = TapeBackward(scores, tape, weights, mixed, d_mixed, d_queries)
        own = LSTMN, limits.window, gates, summary
        native = additive_scan(attention.native, *own, recurrent, w_key, w_summary)
        if native:
            native.read_back(d_gates, given.states, given.tape)
        else:
            _read_back(attention, slots, given, limits, (gates, mixed), d_gates, matrices)
        d_summary.addmm_(d_queries[0], w_summary)
        d_keys, d_values = attention.d_keys(), given.add_to_first(m, slots.up_to(m))
        recalled = mixed[..., :hidden]
        d_all = d_sums.flatten(0, 1)
        before = torch.cat((summary.unsqueeze(0), recalled[:-1])).flatten(0, 1)
        d_matrix = long_product(d_all.t(), x.flatten(0, 1))
        return (
            long_product(d_all, torch.cat((inputs, w_input))).view_as(x),
            d_values, d_keys[:, :m], d_summary,
            d_matrix[: 4 * hidden],
            d_gates.sum((0, 1)),
            long_product(d_gates.flatten(0, 1).t(), recalled.flatten(0, 1)),
            d_matrix[4 * hidden :],
            long_product(d_keys[:, m:].flatten(0, 1).t(), tape[:, m:, :hidden].flatten(0, 1)),
            long_product(d_queries.flatten(0, 1).t(), before),
            attention.d_v(),
            attention.d_recency(),
        )  # fmt: skip


def _read(
    attention: TapeAttention,
    limits: TapeLimits,
    gates: Tensor,
    summary: Tensor,
    matrices: LSTMNMatrices,
) -> None:
    """The steps; sums of the gates become the gates."""
    tape, keys = attention.values, attention.scores.keys
    _, _, recurrent, _, w_key, w_summary, _, _ = matrices
    n, hidden, recalled = len(gates), summary.shape[-1], summary
    given = gates, attention.scores.queries, attention.mixed
    for t, (gate, query, mix) in enumerate(zip(*given, strict=True)):
        s = tape.shape[1] - n + t
        query.addmm_(recalled, w_summary.t())
        attention.attend(t, limits.seen(s))
        recalled, old_c = mix.split(hidden, -1)
        gate.addmm_(recalled, recurrent.t())
        both, g, o = gate.split((2 * hidden, hidden, hidden), -1)
        both.sigmoid_(), g.tanh_(), o.sigmoid_()
        h, c = tape[:, s].split(hidden, -1)
        torch.mul(both[:, hidden:], old_c, out=c).addcmul_(both[:, :hidden], g)
        torch.mul(o, c.tanh(), out=h)
        torch.mm(h, w_key.t(), out=keys[:, s])


def _read_back(
    attention: TapeBackward,
    slots: SlotGradients,
    given: ResultGradient,
    limits: TapeLimits,
    made: tuple[Tensor, Tensor],
    d_gates: Tensor,
    matrices: LSTMNMatrices,
) -> None:
    """The steps, from the last to the first; ``made`` are the gates and what was mixed."""
    (gates, mixed), tape, d_mixed = made, attention.values, slots.rows
    _, _, recurrent, _, w_key, w_summary, _, _ = matrices
    n, hidden = len(gates), w_key.shape[0]
    for t in range(n - 1, -1, -1):
        s = tape.shape[1] - n + t
        d_word = slots.at(s, t + 1)
        given.add_to(d_word, t, s)
        d_h, d_c = d_word.split(hidden, -1)
        d_h.addmm_(attention.d_key(s, t), w_key)
        d_old, d_old_c = d_mixed[:, t].split(hidden, -1)
        c, old_c = tape[:, s, hidden:], mixed[t, :, hidden:]
        _gates_backward(d_gates[t], gates[t], d_h, d_c, c, old_c, d_old_c)
        d_old.addmm_(d_gates[t], recurrent)
        if t + 1 < n:
            d_old.addmm_(attention.d_queries[t + 1], w_summary)
        attention.attend(t, limits.seen(s))


def _gates_backward(
    d_gates: Tensor,
    gates: Tensor,
    d_h: Tensor,
    d_c: Tensor,
    c: Tensor,
    old_c: Tensor,
    d_old_c: Tensor,
) -> None:
    """Write the gradients of the four gates' sums, and of c~.

    The derivative of a sigmoid y is y − y², that of tanh 1 − y².
    """
    i, f, g, o = gates.chunk(4, -1)
    d_i, d_f, d_g, d_o = d_gates.chunk(4, -1)
    shown = c.tanh()
    torch.mul(d_h, shown, out=d_o).mul_(o)
    d_c.addcmul_(d_h, o).addcmul_(d_o, shown, value=-1)
    d_o.addcmul_(d_o, o, value=-1)
    torch.mul(d_c, g, out=d_i)
    torch.mul(d_c, old_c, out=d_f)
    both, two = d_gates[:, : 2 * c.shape[-1]], gates[:, : 2 * c.shape[-1]]
    both.mul_(two).addcmul_(both, two, value=-1)
    torch.mul(d_c, i, out=d_g)
    d_g.addcmul_(d_g * g, g, value=-1)
    torch.mul(d_c, f, out=d_old_c)
