"""Attentive scan: the loop of Bahdanau's decoder, with its gradient written out.

Each step looks at the source with the state before it, then updates the state with what it found.
This is what the loop of ``additive``, ``attend`` and the gated unit computes one line each; here
the matrices' gradients, and that of the values, are one product over all steps at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.recurrent.scan.additive import TapeAttention, TapeBackward
from regard.recurrent.scan.product import add_product, product, product_type


class Looked(NamedTuple):
    """Of every step i: the state before it, the context it made and the weights it used."""

    before: Tensor
    """s_{i-1} (n, batch, hidden)."""
    contexts: Tensor
    """c_i (n, batch, value width)."""
    weights: Tensor
    """a_i (n, batch, keys); carries no gradient."""


class AttentiveMatrices(NamedTuple):
    """The matrices of the additive score and of the gated unit."""

    w_query: Tensor
    """W_a (alignment, hidden)."""
    v: Tensor
    """v_a (alignment,)."""
    context: Tensor
    """[C_z; C_r; C] (3 · hidden, value width)."""
    gates: Tensor
    """[U_z; U_r] (2 · hidden, hidden)."""
    candidate: Tensor
    """U (hidden, hidden)."""


def attentive_scan(
    inputs: Tensor,
    state: Tensor,
    keys: Tensor,
    values: Tensor,
    allowed: Tensor | None,
    matrices: AttentiveMatrices,
) -> Looked:
    """The decoder's steps (Bahdanau et al. 2015, appendix A.2.2), teacher-forced.

    e[i,j] = v · tanh(W_a s_{i-1} + k_j),  a_i = softmax(e_i),  c_i = sum_j a[i,j] h_j,
    s_i = GatedUnit(inputs_i + C c_i, s_{i-1})

    ``inputs`` (n, batch, 3 · hidden) projected, ``state`` s_0 (batch, hidden), ``keys`` k_j = U_a
    h_j (batch, keys, alignment), ``values`` h_j (batch, keys, width), ``allowed`` (batch, keys).
    """
    kind = matrices.gates.dtype
    looked = _AttentiveScan.apply(  # type: ignore[no-untyped-call]
        inputs.to(kind), state.to(kind), keys.to(kind), values, allowed, *matrices
    )
    return Looked(*looked)


class _AttentiveScan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        state: Tensor,
        keys: Tensor,
        values: Tensor,
        allowed: Tensor | None,
        w_query: Tensor,
        v: Tensor,
        context: Tensor,
        gates: Tensor,
        candidate: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        n, batch, hidden = inputs.shape[0], *state.shape
        before = inputs.new_empty(n, batch, hidden)
        contexts = inputs.new_empty(n, batch, values.shape[-1])
        weights = inputs.new_empty(n, batch, keys.shape[1])
        queries = inputs.new_empty(n, batch, keys.shape[-1])
        both = inputs.new_empty(n, batch, 2 * hidden)
        fresh = inputs.new_empty(n, batch, hidden)
        remembered = inputs.new_empty(n, batch, hidden)
        forbidden = None if allowed is None else ~allowed
        looks = TapeAttention(keys, queries, v, values, weights, contexts, forbidden)
        source, kind = _all(keys), product_type(state)
        ctx.kind = kind
        w_a, c, u_gates, u = (w.t().to(kind) for w in (w_query, context, gates, candidate))
        s = state
        for t in range(n):
            before[t] = s
            queries[t] = s.to(kind) @ w_a
            looks.look(t, source)
            if t == n - 1:
                break
            projected = add_product(inputs[t], contexts[t], c, out=torch.empty_like(inputs[t]))
            add_product(projected[:, : 2 * hidden], s, u_gates, out=both[t]).sigmoid_()
            torch.mul(both[t, :, hidden:], s, out=remembered[t])
            add_product(projected[:, 2 * hidden :], remembered[t], u, out=fresh[t]).tanh_()
            s = torch.lerp(s, fresh[t], both[t, :, :hidden])
        ctx.save_for_backward(
            keys, values, w_query, v, context, gates, candidate,
            before, contexts, weights, queries, both, fresh, remembered,
        )  # fmt: skip
        ctx.mark_non_differentiable(weights)
        return before, contexts, weights

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        keys, values, w_query, v, context, gates, candidate, *steps = ctx.saved_tensors
        before, contexts, weights, queries, both, fresh, remembered = steps
        n, batch, hidden = before.shape
        d_inputs, keep, r = _slopes(before, both, fresh)
        d_contexts, d_queries = grads[1].clone(), torch.empty_like(queries)
        slopes = TapeBackward(
            keys, queries, v, values, weights, d_contexts.transpose(0, 1), d_queries
        )
        d, source, kind = torch.zeros_like(before[0]), _all(keys), ctx.kind
        w_query, context, gates, candidate = (
            w.to(kind) for w in (w_query, context, gates, candidate)
        )
        for t in range(n - 1, -1, -1):
            if t < n - 1:  # the unit: its slopes become its gradients, in place
                step = d_inputs[t]
                step[:, :hidden].mul_(d)
                d_remembered = product(step[:, 2 * hidden :].mul_(d), candidate, kind)
                step[:, hidden : 2 * hidden].mul_(d_remembered)
                d = d * keep[t] + d_remembered * r[t]
                add_product(d, step[:, : 2 * hidden], gates, out=d)
                add_product(d_contexts[t], step, context, out=d_contexts[t])
            slopes.look_back(t, source)
            add_product(d, d_queries[t], w_query, out=d).add_(grads[0][t])
        d_values = torch.bmm(weights.permute(1, 2, 0), d_contexts.transpose(0, 1))
        flat, states = d_inputs.flatten(0, 1).t(), before.flatten(0, 1)
        return (
            d_inputs,
            d,
            slopes.d_keys(),
            d_values,
            None,
            product(d_queries.flatten(0, 1).t(), states, kind),
            slopes.d_v(),
            product(flat, contexts.flatten(0, 1), kind),
            product(flat[: 2 * hidden], states, kind),
            product(flat[2 * hidden :, : -batch or None], remembered[:-1].flatten(0, 1), kind),
        )


def _all(keys: Tensor) -> slice:
    """Every step sees the whole source."""
    return slice(0, keys.shape[1])


def _slopes(before: Tensor, both: Tensor, fresh: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """The gated unit's derivatives that do not depend on later steps, 1 − z and r.

    (n, batch, 3 · hidden) for z, r and the candidate; zeros at the last step, whose new state
    nobody reads.
    """
    n, batch, hidden = before.shape
    slopes = before.new_zeros(n, batch, 3 * hidden)
    s, (z, r), fresh = before[:-1], both[:-1].split(hidden, -1), fresh[:-1]
    torch.mul((fresh - s).mul_(z), 1 - z, out=slopes[:-1, :, :hidden])
    torch.mul(s * r, 1 - r, out=slopes[:-1, :, hidden : 2 * hidden])
    torch.mul(z, 1 - fresh.square(), out=slopes[:-1, :, 2 * hidden :])
    return slopes, 1 - z, r
