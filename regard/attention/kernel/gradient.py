"""Run the kernel on tensors whose gradients are asked for: attention, and back through it."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from regard.attention.kernel import run as native
from regard.attention.kernel.layout import GradientLayout, array
from regard.attention.kernel.library import Kernel
from regard.attention.rule import Rule
from regard.attention.wanted import Wanted

LEAST_ROWS, MOST_TOKENS = 1024, 2048
"""Queries of all heads together, and queries or keys of one. Fewer: a call from Python costs more
than it gains. More than the second: nobody measured it."""


def usable(query: Tensor, key: Tensor, value: Tensor) -> Kernel | None:
    """The kernel, if it computes the gradient of these tensors, and faster than PyTorch."""
    if query.dtype != torch.float32 or max(query.shape[-2], key.shape[-2]) > MOST_TOKENS:
        return None
    if query.shape[:-1].numel() < LEAST_ROWS:
        return None
    return native.usable(query, key, value, trains=True)


def run(it: Kernel, query: Tensor, key: Tensor, value: Tensor, rule: Rule) -> Tensor:
    """The context (batch, heads, q, w), differentiable once; axes as in :mod:`run`.

    The rule has no bias and no soft cap. Weights are not kept but made again on the way back, each
    key head by one thread: the same call gives the same bits.
    """
    allowed = None if rule.mask is None else rule.mask.allowed
    context: Tensor = _Attention.apply(query, key, value, allowed, it, rule)  # type: ignore[no-untyped-call]
    return context


class _Attention(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        allowed: Tensor | None,
        it: Kernel,
        rule: Rule,
    ) -> Tensor:
        context, found = native.run(it, query, key, value, rule, Wanted())
        assert context is not None
        assert found is not None
        ctx.save_for_backward(query, key, value, found.lse, allowed)
        ctx.it, ctx.rule = it, rule
        return context

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_context: Tensor) -> tuple[Tensor | None, ...]:
        query, key, value, lse, _ = ctx.saved_tensors
        call, _kept = native.describe(query, key, value, ctx.rule)
        call.lse = lse.data_ptr()
        found = tuple(_beside(tensor) for tensor in (query, key, value))
        gradient = GradientLayout(array(d_context), *map(array, found))
        ctx.it.attend_back(call, gradient)
        return *found, None, None, None


def _beside(tensor: Tensor) -> Tensor:
    """Memory for the gradient of (batch, heads, n, width), heads beside each other."""
    batch, heads, count, width = tensor.shape
    return native.floats(batch, count, heads, width).transpose(1, 2)
