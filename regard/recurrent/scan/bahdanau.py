"""Bahdanau scan: the loop of Bahdanau's decoder, with its gradient written out.

Each step attends to the source with the state before it, then updates the state with what it found.
This is what the loop of ``additive``, ``attend`` and the gated unit computes one line each; here
the matrices' gradients, and that of the values, are one product over all steps at the end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.recurrent.scan.attention import TapeAttention, TapeBackward, TapeScores
from regard.recurrent.scan.gated import GatedBackward, GatedSteps
from regard.recurrent.scan.product import add_product, product, product_type


class BahdanauSteps(NamedTuple):
    """Of every step i: the state before it, the context it made and the weights it used."""

    before: Tensor
    """s_{i-1} (n, batch, hidden)."""
    contexts: Tensor
    """c_i (n, batch, value width)."""
    weights: Tensor
    """a_i (n, batch, keys); carries a gradient only if they are to be learned from."""


class BahdanauMatrices(NamedTuple):
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


def bahdanau_scan(
    inputs: Tensor,
    state: Tensor,
    keys: Tensor,
    values: Tensor,
    allowed: Tensor | None,
    matrices: BahdanauMatrices,
    *,
    learn_weights: bool = False,
) -> BahdanauSteps:
    """The decoder's steps (Bahdanau et al. 2015, appendix A.2.2), teacher-forced.

    e[i,j] = v · tanh(W_a s_{i-1} + k_j),  a_i = softmax(e_i),  c_i = sum_j a[i,j] h_j,
    s_i = GatedUnit(inputs_i + C c_i, s_{i-1})

    ``inputs`` (n, batch, 3 · hidden) projected, ``state`` s_0 (batch, hidden), ``keys`` k_j = U_a
    h_j (batch, keys, alignment), ``values`` h_j (batch, keys, width), ``allowed`` (batch, keys).
    With ``learn_weights`` the weights carry a gradient too.
    """
    kind = matrices.gates.dtype
    return BahdanauSteps(
        *_BahdanauScan.apply(  # type: ignore[no-untyped-call]
            learn_weights,
            inputs.to(kind),
            state.to(kind),
            keys.to(kind),
            values,
            allowed,
            *matrices,
        )
    )


class _BahdanauScan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        learn_weights: bool,
        inputs: Tensor,
        state: Tensor,
        keys: Tensor,
        values: Tensor,
        allowed: Tensor | None,
        *matrices: Tensor,
    ) -> tuple[Tensor, Tensor, Tensor]:
        w_query, v, context, gates, candidate = matrices
        n, batch, hidden = inputs.shape[0], *state.shape
        before = inputs.new_empty(n, batch, hidden)
        contexts = inputs.new_empty(n, batch, values.shape[-1])
        weights = inputs.new_empty(n, batch, keys.shape[1])
        queries = inputs.new_empty(n, batch, keys.shape[-1])
        forbidden, source = None if allowed is None else ~allowed, _all(keys)
        scores = TapeScores(keys, queries, v)
        attention = TapeAttention(scores, values, weights, contexts, forbidden)
        unit = GatedSteps.empty(n - 1, state)  # nobody reads the state after the last step
        s, kind = state, product_type(state)
        w_a, c, u_gates, u_candidate = (
            matrix.t().to(kind) for matrix in (w_query, context, gates, candidate)
        )
        for t in range(n):
            before[t] = s
            queries[t] = product(s, w_a, kind)
            attention.attend(t, source)
            if t < n - 1:
                projected = add_product(inputs[t], contexts[t], c)
                s = unit.step(t, projected, s, u_gates, u_candidate)
        ctx.kind = kind
        ctx.save_for_backward(keys, values, before, contexts, weights, queries, *matrices, *unit)
        ctx.learn_weights = learn_weights
        if not learn_weights:
            ctx.mark_non_differentiable(weights)
        return before, contexts, weights

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        keys, values, before, contexts, weights, queries, *rest = ctx.saved_tensors
        (w_query, v, context, gates, candidate), steps = rest[:5], GatedSteps(*rest[5:])
        n, batch, hidden = before.shape
        d_inputs = before.new_zeros(n, batch, 3 * hidden)
        unit = GatedBackward(steps, before[:-1], d_inputs[:-1])
        said, mixed, d_mixed = values, contexts, grads[1].clone()
        if ctx.learn_weights:  # as if each value also said, with a 1 of its own, how it is weighed
            own = torch.eye(keys.shape[1], dtype=values.dtype, device=values.device)
            said = torch.cat((values, own.expand(batch, -1, -1)), -1)
            mixed = torch.cat((contexts, weights), -1)
            d_mixed = torch.cat((d_mixed, grads[2]), -1)
        d_contexts, d_queries = d_mixed[..., : values.shape[-1]], torch.empty_like(queries)
        scores = TapeScores(keys, queries, v)
        d_found = d_mixed.transpose(0, 1)
        attention = TapeBackward(scores, said, weights, mixed, d_found, d_queries)
        d, source, kind = torch.zeros_like(before[0]), _all(keys), ctx.kind
        w_query, context, gates, candidate = (
            matrix.to(kind) for matrix in (w_query, context, gates, candidate)
        )
        for t in range(n - 1, -1, -1):
            if t < n - 1:
                unit.step(t, d, gates, candidate)
                add_product(d_contexts[t], d_inputs[t], context, out=d_contexts[t])
            attention.attend(t, source)
            add_product(d, d_queries[t], w_query, out=d).add_(grads[0][t])
        d_values = torch.bmm(weights.permute(1, 2, 0), d_contexts.transpose(0, 1))
        flat, states = d_inputs.flatten(0, 1).t(), before.flatten(0, 1)
        return (
            None,
            d_inputs,
            d,
            attention.d_keys(),
            d_values,
            None,
            product(d_queries.flatten(0, 1).t(), states, kind),
            attention.d_v(),
            product(flat, contexts.flatten(0, 1), kind),
            product(flat[: 2 * hidden], states, kind),
            product(flat[2 * hidden :, : -batch or None], steps.reset.flatten(0, 1), kind),
        )


def _all(keys: Tensor) -> slice:
    """Every step sees the whole source."""
    return slice(0, keys.shape[1])
