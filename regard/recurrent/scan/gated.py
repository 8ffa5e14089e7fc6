"""Scan: the gated unit's loop over time, with its gradient written out.

Only the two products with the state must wait for the step before; everything else leaves the
loop, in the gradient too: the matrices' gradients are one product over all steps at the end, where
automatic differentiation would make and add one for each step.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from regard.recurrent.scan.product import add_product, product, product_type


def scan(
    inputs: Tensor, state: Tensor, gates: Tensor, candidate: Tensor, reset: Tensor | None = None
) -> Tensor:
    """All states s_1 … s_n (n, batch, hidden) of the gated unit.

    ``inputs`` (n, batch, 3 · hidden) are the projected inputs of z, r and the candidate;
    ``state`` (batch, hidden) is s_0; ``gates`` [U_z; U_r] is (2 · hidden, hidden) and
    ``candidate`` U (hidden, hidden). Where ``reset`` (n, batch, 1) is True the state becomes 0.
    """
    if not inputs.shape[0]:
        return inputs.new_zeros(0, *state.shape)
    states: Tensor = _GatedScan.apply(  # type: ignore[no-untyped-call]
        inputs.to(gates.dtype), state.to(gates.dtype), gates, candidate, reset
    )
    return states


class _GatedScan(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        inputs: Tensor,
        state: Tensor,
        gates: Tensor,
        candidate: Tensor,
        reset: Tensor | None,
    ) -> Tensor:
        n, batch, hidden = inputs.shape[0], *state.shape
        both = inputs.new_empty(n, batch, 2 * hidden)  # z and r of every step
        fresh = inputs.new_empty(n, batch, hidden)  # the candidates
        remembered = inputs.new_empty(n, batch, hidden)  # r * s
        states = inputs.new_empty(n, batch, hidden)
        in_gates, in_fresh = inputs.split((2 * hidden, hidden), -1)
        kind = ctx.kind = product_type(state)
        u_gates, u_fresh = gates.t().to(kind), candidate.t().to(kind)
        s = state
        for t in range(n):
            add_product(in_gates[t], s, u_gates, out=both[t]).sigmoid_()
            z, r = both[t, :, :hidden], both[t, :, hidden:]
            torch.mul(r, s, out=remembered[t])
            add_product(in_fresh[t], remembered[t], u_fresh, out=fresh[t]).tanh_()
            s = torch.lerp(s, fresh[t], z, out=states[t])
            if reset is not None:
                s.masked_fill_(reset[t], 0)
        ctx.save_for_backward(state, gates, candidate, reset, both, fresh, remembered, states)
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        state, gates, candidate, reset, both, fresh, remembered, states = ctx.saved_tensors
        n, batch, hidden = states.shape
        before = torch.cat((state.unsqueeze(0), states[:-1]))
        z, r = both.split(hidden, -1)
        # What does not depend on later steps, for all steps at once: the slopes.
        grad_inputs = states.new_empty(n, batch, 3 * hidden)
        slope_z, slope_r, slope_fresh = grad_inputs.split(hidden, -1)
        torch.mul((fresh - before).mul_(z), 1 - z, out=slope_z)
        torch.mul(before * r, 1 - r, out=slope_r)
        torch.mul(z, 1 - fresh.square(), out=slope_fresh)
        keep = 1 - z
        d, kind = torch.zeros_like(state), ctx.kind
        gates, candidate = gates.to(kind), candidate.to(kind)
        for t in range(n - 1, -1, -1):
            d = d + grads[0][t]
            if reset is not None:
                d.masked_fill_(reset[t], 0)
            slope_z[t].mul_(d)
            d_remembered = product(slope_fresh[t].mul_(d), candidate, kind)
            slope_r[t].mul_(d_remembered)
            d.mul_(keep[t]).addcmul_(d_remembered, r[t])
            add_product(d, grad_inputs[t, :, : 2 * hidden], gates, out=d)
        flat = grad_inputs.view(n * batch, 3 * hidden)
        grad_gates = product(flat[:, : 2 * hidden].t(), before.view(n * batch, hidden), kind)
        grad_candidate = product(
            flat[:, 2 * hidden :].t(), remembered.view(n * batch, hidden), kind
        )
        return grad_inputs, d, grad_gates, grad_candidate, None
