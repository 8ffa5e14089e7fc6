"""Gated scan: the gated unit's loop over time, with its gradient written out.

Only the two products with the state must wait for the step before; everything else leaves the
loop, in the gradient too: the matrices' gradients are one product over all steps at the end, where
automatic differentiation would make and add one for each step.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from regard.recurrent.scan.product import add_product, product, product_type


def gated_scan(
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


class GatedSteps(NamedTuple):
    """What n steps of the unit compute, and the gradient needs."""

    gates: Tensor
    """z and r (n, batch, 2 · hidden)."""
    reset: Tensor
    """r * s (n, batch, hidden)."""
    candidates: Tensor
    """s^ (n, batch, hidden)."""

    @classmethod
    def empty(cls, n: int, state: Tensor) -> GatedSteps:
        """Room for n steps that begin with ``state`` (batch, hidden)."""
        batch, hidden = state.shape
        return cls(
            state.new_empty(n, batch, 2 * hidden),
            state.new_empty(n, batch, hidden),
            state.new_empty(n, batch, hidden),
        )

    def step(
        self,
        t: int,
        inputs: Tensor,
        s: Tensor,
        gates: Tensor,
        candidate: Tensor,
        out: Tensor | None = None,
    ) -> Tensor:
        """s_t from s_{t-1} ``s`` and the projected ``inputs`` (batch, 3 · hidden).

        ``gates`` and ``candidate`` are transposed, and of the type that products are computed in.
        """
        hidden, both, reset, fresh = s.shape[-1], self.gates[t], self.reset[t], self.candidates[t]
        of_gates, of_fresh = inputs.split((2 * hidden, hidden), -1)
        add_product(of_gates, s, gates, out=both).sigmoid_()
        z, r = both.split(hidden, -1)
        torch.mul(r, s, out=reset)
        add_product(of_fresh, reset, candidate, out=fresh).tanh_()
        return torch.lerp(s, fresh, z, out=out)


class GatedBackward:
    """The gradient of the unit, from the last step to the first.

    ``before`` (n, batch, hidden) are the states s_0 … s_{n-1}. ``d_inputs`` (n, batch, 3 · hidden)
    first holds the derivatives, which do not depend on later steps; each step makes its gradients
    of them, in place.
    """

    def __init__(self, steps: GatedSteps, before: Tensor, d_inputs: Tensor) -> None:
        hidden, fresh = before.shape[-1], steps.candidates
        z, r = steps.gates.split(hidden, -1)
        self.keep, self.r, self.d_gates = 1 - z, r, d_inputs[..., : 2 * hidden]
        self.d_z, self.d_r, self.d_fresh = d_inputs.split(hidden, -1)
        torch.mul((fresh - before).mul_(z), self.keep, out=self.d_z)
        torch.mul(before * r, 1 - r, out=self.d_r)
        torch.mul(z, 1 - fresh.square(), out=self.d_fresh)

    def step(self, t: int, d: Tensor, gates: Tensor, candidate: Tensor) -> None:
        """Make ``d`` (batch, hidden), the gradient of s_t, that of s_{t-1}."""
        self.d_z[t].mul_(d)
        d_reset = product(self.d_fresh[t].mul_(d), candidate, candidate.dtype)
        self.d_r[t].mul_(d_reset)
        d.mul_(self.keep[t]).addcmul_(d_reset, self.r[t])
        add_product(d, self.d_gates[t], gates, out=d)


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
        n, steps = inputs.shape[0], GatedSteps.empty(inputs.shape[0], state)
        states = state.new_empty(n, *state.shape)
        s, kind = state, product_type(state)
        u_gates, u_candidate = gates.t().to(kind), candidate.t().to(kind)
        for t in range(n):
            s = steps.step(t, inputs[t], s, u_gates, u_candidate, out=states[t])
            if reset is not None:
                s.masked_fill_(reset[t], 0)
        ctx.kind = kind
        ctx.save_for_backward(state, gates, candidate, reset, states, *steps)
        return states

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        state, gates, candidate, reset, states, *kept = ctx.saved_tensors
        n, batch, hidden = states.shape
        steps = GatedSteps(*kept)
        before = torch.cat((state.unsqueeze(0), states[:-1]))
        d_inputs = states.new_empty(n, batch, 3 * hidden)
        unit = GatedBackward(steps, before, d_inputs)
        d, kind = torch.zeros_like(state), ctx.kind
        gates, candidate = gates.to(kind), candidate.to(kind)
        for t in range(n - 1, -1, -1):
            d = d + grads[0][t]
            if reset is not None:
                d.masked_fill_(reset[t], 0)
            unit.step(t, d, gates, candidate)
        flat = d_inputs.view(n * batch, 3 * hidden)
        d_gates = product(flat[:, : 2 * hidden].t(), before.view(n * batch, hidden), kind)
        d_candidate = product(flat[:, 2 * hidden :].t(), steps.reset.view(n * batch, hidden), kind)
        return d_inputs, d, d_gates, d_candidate, None
