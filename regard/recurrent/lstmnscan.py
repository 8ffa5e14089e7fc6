"""LSTMN scan: the LSTMN's loop over time, with its gradient written out.

It computes what the loop in lstmn.py computes, for training: the tapes are written into tensors
that have room for all words, tanh over all pairs is computed again in the gradient and not kept,
and the matrices' gradients are one product over all steps at the end.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable


class Matrices(NamedTuple):
    """The matrices that act inside the loop."""

    recurrent: Tensor
    """W's part for h~_t (4 · hidden, hidden), rows of i, f, c^ and o."""
    w_key: Tensor
    """W_h (hidden, hidden)."""
    w_summary: Tensor
    """W_h~ (hidden, hidden)."""
    v: Tensor
    """(hidden,)."""


def lstmn_scan(
    gates: Tensor,
    queries: Tensor,
    values: Tensor,
    keys: Tensor,
    summary: Tensor,
    allowed: Tensor | None,
    real: Tensor | None,
    window: int | None,
    matrices: Matrices,
) -> tuple[Tensor, Tensor]:
    """The tape [h_i; c_i] (batch, m + n, 2 · hidden) after n words, and the last h~.

    ``gates`` (n, batch, 4 · hidden) and ``queries`` (n, batch, hidden) are the projected inputs;
    ``values`` (batch, m, 2 · hidden), their ``keys`` and ``summary`` h~ what was read before;
    ``allowed`` (batch, m + n) is False at slots without a word, ``real`` (n, batch, 1) at padding.
    """
    tape, last = _Scan.apply(  # type: ignore[no-untyped-call]
        gates, queries, values, keys, summary, allowed, real, window, *matrices
    )
    return tape, last


class _Scan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        gates: Tensor,
        queries: Tensor,
        values: Tensor,
        keys: Tensor,
        summary: Tensor,
        allowed: Tensor | None,
        real: Tensor | None,
        window: int | None,
        *matrices: Tensor,
    ) -> tuple[Tensor, Tensor]:
        recurrent, w_key, w_summary, v = matrices
        n, m, (batch, hidden) = gates.shape[0], values.shape[1], summary.shape
        tape, tape_keys = (
            torch.cat((start, start.new_empty(batch, n, start.shape[-1])), 1)
            for start in (values, keys)
        )
        weights = gates.new_zeros(n, batch, m + n)
        acts, mixed = torch.empty_like(gates), gates.new_empty(n, batch, 2 * hidden)
        asked = torch.empty_like(queries)
        before = gates.new_empty(n + 1, batch, hidden)
        before[0] = summary
        forbidden = None if allowed is None else ~allowed
        for t in range(n):
            s = m + t
            seen = slice(0 if window is None else max(s - window, 0), s)
            torch.addmm(queries[t], before[t], w_summary.t(), out=asked[t])
            e = (tape_keys[:, seen] + asked[t].unsqueeze(1)).tanh_() @ v
            if forbidden is None:
                a = e.softmax(-1)
            else:  # a row of nothing but -inf becomes NaN, then zeros
                a = e.masked_fill_(forbidden[:, seen], -math.inf).softmax(-1)
                a.masked_fill_(forbidden[:, seen], 0)
            weights[t, :, seen] = a
            mixed[t] = torch.bmm(a.unsqueeze(1), tape[:, seen]).squeeze(1)
            old_h, old_c = mixed[t].split(hidden, -1)
            torch.addmm(gates[t], old_h, recurrent.t(), out=acts[t])
            i, f, g, o = acts[t].chunk(4, -1)
            i.sigmoid_(), f.sigmoid_(), g.tanh_(), o.sigmoid_()
            c = f * old_c + i * g
            h = o * c.tanh()
            tape[:, s, :hidden], tape[:, s, hidden:] = h, c
            tape_keys[:, s] = h @ w_key.t()
            before[t + 1] = old_h if real is None else torch.where(real[t], old_h, before[t])
        ctx.save_for_backward(tape, tape_keys, weights, acts, mixed, asked, before, real, *matrices)
        ctx.window = window
        return tape, before[n].clone()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_tape: Tensor, d_summary: Tensor) -> tuple[Tensor | None, ...]:
        tape, keys, weights, acts, mixed, asked, before, real, *matrices = ctx.saved_tensors
        recurrent, w_key, w_summary, v = matrices
        n, batch, hidden = asked.shape
        m = tape.shape[1] - n
        d_gates, d_asked = torch.empty_like(acts), torch.empty_like(asked)
        d_mixed = tape.new_empty(batch, n, 2 * hidden)
        by_word = weights.permute(1, 2, 0)  # (batch, slot, step)
        # A key's gradient is v · (sum of d_e − sum of d_e tanh²): the two sums.
        d_scores, d_squares = tape.new_zeros(batch, m + n), torch.zeros_like(keys)
        d_v = torch.zeros_like(v)
        for t in range(n - 1, -1, -1):
            s = m + t
            seen = slice(0 if ctx.window is None else max(s - ctx.window, 0), s)
            d_key = (d_scores[:, s, None] - d_squares[:, s]).mul_(v)
            d_word = torch.bmm(by_word[:, s : s + 1, t + 1 :], d_mixed[:, t + 1 :]).squeeze(1)
            d_h, d_c = d_word.add_(d_tape[:, s]).split(hidden, -1)
            d_h = torch.addmm(d_h, d_key, w_key)
            d_c = _unit(d_gates[t], acts[t], d_h, d_c, tape[:, s, hidden:], mixed[t, :, hidden:])
            d_old = d_gates[t] @ recurrent
            if real is None:
                d_old, d_summary = d_old + d_summary, torch.zeros_like(d_summary)
            else:
                d_old = d_old + d_summary.masked_fill(~real[t], 0)
                d_summary = d_summary.masked_fill(real[t], 0)
            d_mixed[:, t, :hidden], d_mixed[:, t, hidden:] = d_old, d_c
            a = weights[t, :, seen]
            d_a = torch.bmm(tape[:, seen], d_mixed[:, t].unsqueeze(-1)).squeeze(-1).mul_(a)
            d_e = d_a - a * d_a.sum(-1, keepdim=True)
            d_scores[:, seen] += d_e
            bent = (keys[:, seen] + asked[t].unsqueeze(1)).tanh_()
            d_v.addmv_(bent.view(-1, bent.shape[-1]).t(), d_e.flatten())
            squares = bent.square_()
            d_squares[:, seen].addcmul_(squares, d_e.unsqueeze(-1))
            # d_e sums to 0, so of the slope 1 − tanh² only the square is left.
            d_asked[t] = torch.bmm(d_e.unsqueeze(1), squares).squeeze(1).mul_(-v)
            d_summary = torch.addmm(d_summary, d_asked[t], w_summary)
        d_keys = (d_scores.unsqueeze(-1) - d_squares).mul_(v)
        d_values = torch.baddbmm(d_tape[:, :m], by_word[:, :m], d_mixed)
        states = tape[:, m:, :hidden].flatten(0, 1)
        return (
            d_gates, d_asked, d_values, d_keys[:, :m], d_summary, None, None, None,
            d_gates.flatten(0, 1).t() @ mixed[..., :hidden].flatten(0, 1),
            d_keys[:, m:].flatten(0, 1).t() @ states,
            d_asked.flatten(0, 1).t() @ before[:-1].flatten(0, 1),
            d_v,
        )  # fmt: skip


def _unit(
    d_gates: Tensor, acts: Tensor, d_h: Tensor, d_c: Tensor, c: Tensor, old_c: Tensor
) -> Tensor:
    """Write the gradient of the four sums that the gates bend into ``d_gates``; give that of c~."""
    i, f, g, o = acts.chunk(4, -1)
    shown = c.tanh()
    d_c = d_c + d_h * o * (1 - shown.square())
    d_i, d_f, d_g, d_o = d_gates.chunk(4, -1)
    torch.mul(d_c * g * i, 1 - i, out=d_i)
    torch.mul(d_c * old_c * f, 1 - f, out=d_f)
    torch.mul(d_c * i, 1 - g.square(), out=d_g)
    torch.mul(d_h * shown * o, 1 - o, out=d_o)
    return d_c * f
