"""LSTMN scan: the LSTMN's loop over time, with its gradient written out.

It computes what the loop in lstmn.py computes, when nobody looks inside: the inputs of all words
are projected by one product, the tapes are written into tensors that have room for all words, tanh
over all pairs is computed again in the gradient and not kept, and the matrices' gradients are one
product over all steps at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.recurrent.scan.additive import TapeAttention, TapeBackward
from regard.recurrent.scan.received import Received
from regard.recurrent.scan.result import Given, Scanned, extended, last, spread


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


def lstmn_scan(
    x: Tensor,
    values: Tensor,
    keys: Tensor,
    summary: Tensor,
    allowed: Tensor | None,
    lengths: Tensor | None,
    window: int | None,
    matrices: LSTMNMatrices,
) -> Scanned:
    """Read ``x`` (n, batch, width) onto the tape [h_i; c_i].

    ``values`` (batch, m, 2 · hidden), their ``keys`` and ``summary`` h~ are what was read before;
    ``allowed`` (batch, m + n) is False at slots without a word; ``lengths`` (batch,) says how many
    positions of each sequence are real.
    """
    return Scanned(
        *_LSTMNScan.apply(  # type: ignore[no-untyped-call]
            x, values, keys, summary, allowed, lengths, window, *matrices
        )
    )


class _LSTMNScan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        x: Tensor,
        values: Tensor,
        keys: Tensor,
        summary: Tensor,
        allowed: Tensor | None,
        lengths: Tensor | None,
        window: int | None,
        *matrices: Tensor,
    ) -> tuple[Tensor, ...]:
        inputs, bias, recurrent, w_input, w_key, w_summary, v = matrices
        (n, batch, _), m, hidden = x.shape, values.shape[1], summary.shape[-1]
        sums = torch.cat((inputs, w_input)).t()
        sums = torch.mm(x.flatten(0, 1), sums).view(n, batch, 5 * hidden)
        gates, queries = sums.split((4 * hidden, hidden), -1)
        gates += bias
        tape, tape_keys = extended(values, n), extended(keys, n)
        weights, mixed = x.new_zeros(n, batch, m + n), x.new_empty(n, batch, 2 * hidden)
        forbidden = None if allowed is None else ~allowed
        looks = TapeAttention(tape_keys, queries, v, tape, weights, mixed, forbidden)
        recalled = summary
        for t, (gate, query, mix) in enumerate(zip(gates, queries, mixed, strict=True)):
            s = m + t
            seen = slice(0 if window is None else max(s - window, 0), s)
            query.addmm_(recalled, w_summary.t())
            looks.look(t, seen)
            recalled, old_c = mix.split(hidden, -1)
            gate.addmm_(recalled, recurrent.t())
            both, g, o = gate.split((2 * hidden, hidden, hidden), -1)
            both.sigmoid_(), g.tanh_(), o.sigmoid_()
            h, c = tape[:, s].split(hidden, -1)
            torch.mul(both[:, hidden:], old_c, out=c).addcmul_(both[:, :hidden], g)
            torch.mul(o, c.tanh(), out=h)
            torch.mm(h, w_key.t(), out=tape_keys[:, s])
        ctx.save_for_backward(x, tape, tape_keys, weights, sums, mixed, summary, lengths, *matrices)
        ctx.window = window
        ctx.mark_non_differentiable(tape_keys)
        ctx.set_materialize_grads(False)
        states = tape[:, m:, :hidden].transpose(0, 1)
        return states, tape, last(mixed[..., :hidden], summary, lengths), tape_keys

    @staticmethod
    @once_differentiable
    def backward(
        ctx: Any, d_states: Tensor | None, d_tape: Tensor | None, d_last: Tensor | None, _: None
    ) -> tuple[Tensor | None, ...]:
        x, tape, keys, weights, sums, mixed, summary, lengths, *matrices = ctx.saved_tensors
        inputs, _, recurrent, w_input, w_key, w_summary, v = matrices
        (n, batch, _), hidden = x.shape, summary.shape[-1]
        m = tape.shape[1] - n
        gates, queries = sums.split((4 * hidden, hidden), -1)
        d_sums, d_mixed = torch.empty_like(sums), tape.new_zeros(batch, n, 2 * hidden)
        d_gates, d_queries = d_sums.split((4 * hidden, hidden), -1)
        d_summary = spread(d_last, d_mixed[..., :hidden], lengths)
        slopes = TapeBackward(keys, queries, v, tape, weights, d_mixed, d_queries)
        received = Received(weights, d_mixed)
        given = Given(d_states, d_tape)
        for t in range(n - 1, -1, -1):
            s = m + t
            seen = slice(0 if ctx.window is None else max(s - ctx.window, 0), s)
            d_word = received.at(s, t + 1)
            given.add_to(d_word, t, s)
            d_h, d_c = d_word.split(hidden, -1)
            d_h.addmm_(slopes.d_key(s, t), w_key)
            d_old, d_old_c = d_mixed[:, t].split(hidden, -1)
            c, old_c = tape[:, s, hidden:], mixed[t, :, hidden:]
            _unit(d_gates[t], gates[t], d_h, d_c, c, old_c, d_old_c)
            d_old.addmm_(d_gates[t], recurrent)
            if t + 1 < n:
                d_old.addmm_(d_queries[t + 1], w_summary)
            slopes.look_back(t, seen)
        d_summary.addmm_(d_queries[0], w_summary)
        d_keys, d_values = slopes.d_keys(), given.of_first(m, received.up_to(m))
        recalled = mixed[..., :hidden]
        d_all = d_sums.flatten(0, 1)
        d_matrix = d_all.t() @ x.flatten(0, 1)
        d_w_summary = d_queries[0].t() @ summary
        d_w_summary.addmm_(d_queries[1:].flatten(0, 1).t(), recalled[:-1].flatten(0, 1))
        return (
            (d_all @ torch.cat((inputs, w_input))).view_as(x),
            d_values, d_keys[:, :m], d_summary, None, None, None,
            d_matrix[: 4 * hidden],
            d_gates.sum((0, 1)),
            d_gates.flatten(0, 1).t() @ recalled.flatten(0, 1),
            d_matrix[4 * hidden :],
            d_keys[:, m:].flatten(0, 1).t() @ tape[:, m:, :hidden].flatten(0, 1),
            d_w_summary,
            slopes.d_v(),
        )  # fmt: skip


def _unit(
    d_gates: Tensor,
    gates: Tensor,
    d_h: Tensor,
    d_c: Tensor,
    c: Tensor,
    old_c: Tensor,
    d_old_c: Tensor,
) -> None:
    """Write the gradients of the four sums that the gates bend, and of c~.

    The slope of a sigmoid y is y − y², that of tanh 1 − y².
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
