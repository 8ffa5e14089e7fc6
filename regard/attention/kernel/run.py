"""Run the kernel on tensors: whether it can, what it is given, what it gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor

from regard.attention.kernel.library import CALL, MOST_WIDTH, Kernel, kernel
from regard.attention.mask import Mask

DTYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}
NO_ARRAY = (0, 0, 0, 0, 0)
UNBOUNDED = 1 << 40


@dataclass(frozen=True)
class Wanted:
    """Which statistics a run is to give along with the context."""

    lse: bool = False
    top: int = 0
    entropy: bool = False
    received: bool = False
    cells: tuple[int, int] | None = None
    """Rows and columns of one cell of the pooled maps."""


NOTHING_ELSE = Wanted()


class KernelStatistics(NamedTuple):
    """The statistics of a run; what was not asked for is None. Axes: batch, head, query, …"""

    lse: Tensor | None = None
    top_weights: Tensor | None = None
    top_keys: Tensor | None = None
    entropy: Tensor | None = None
    received: Tensor | None = None
    pooled_max: Tensor | None = None
    pooled_mean: Tensor | None = None


def usable(query: Tensor, key: Tensor, value: Tensor | None = None) -> Kernel | None:
    """The kernel, if it can take these tensors: of the CPU, of one dtype, and no gradient asked.

    Whatever wants to see PyTorch's operations (compilers, tracers, vmap, autocast) gets them.
    """
    it = kernel()
    if it is None or query.dtype not in DTYPES or query.shape[-1] > MOST_WIDTH:
        return None
    tensors = (query, key) if value is None else (query, key, value)
    for tensor in tensors:
        if type(tensor) is not Tensor and type(tensor) is not torch.nn.Parameter:
            return None
        if tensor.dtype != query.dtype or not tensor.is_cpu:
            return None
        if tensor.requires_grad and torch.is_grad_enabled():
            return None
    if value is not None and value.shape[-1] > MOST_WIDTH:
        return None
    return None if watched() else it


def watched() -> bool:
    """Whether somebody records or changes the operations that PyTorch runs."""
    return (
        torch.compiler.is_compiling()
        or torch.is_autocast_enabled("cpu")
        or torch._C._get_tracing_state() is not None
        or torch._C._len_torch_dispatch_stack() > 0
        or torch._C._functorch.peek_interpreter_stack() is not None
        or torch.autograd.forward_ad._current_level >= 0
    )


def run(
    it: Kernel,
    query: Tensor,
    key: Tensor,
    value: Tensor | None,
    *,
    scale: float,
    mask: Mask | None = None,
    bias: Tensor | None = None,
    softcap: float | None = None,
    wanted: Wanted = NOTHING_ELSE,
    out: Tensor | None = None,
) -> tuple[Tensor | None, KernelStatistics]:
    """The context, if there are values, and what else was wanted.

    Query (batch, heads, q, d), key and value (batch, key heads, k, …), any strides.

    The mask's tensor and the bias are broadcastable to (batch, heads, q, k). ``out`` is a float32
    tensor for the context, of any strides but the last, which is 1.
    """
    batch, heads, queries, width = query.shape
    key_heads, keys = key.shape[1], key.shape[2]
    lead = batch, heads, queries
    value_width = 0 if value is None else value.shape[-1]
    if value is not None and out is None:  # heads beside each other, ready to be concatenated
        out = torch.empty(batch, queries, heads, value_width).transpose(1, 2)
    before, after = (None, None) if mask is None else mask.reach
    allowed = None if mask is None else mask.allowed
    # Named, so that they live until the call is over: the kernel gets addresses.
    seen = None if allowed is None else allowed.expand(*lead, keys)
    added = None if bias is None else bias.detach().float().expand(*lead, keys)
    found = _empty(wanted, lead, keys)
    it.attend(
        CALL.pack(
            *_array(query),
            *_array(key),
            *(NO_ARRAY if value is None else _array(value)),
            *(NO_ARRAY if out is None or value is None else _array(out)),
            *(NO_ARRAY if seen is None else _array(seen)),
            *(NO_ARRAY if added is None else _array(added)),
            DTYPES[query.dtype],
            *(batch, heads, key_heads, queries, keys, width, value_width),
            UNBOUNDED if before is None else before,
            UNBOUNDED if after is None else after,
            _address(found.lse),
            _address(found.entropy),
            _address(found.received),
            0 if found.top_keys is None else found.top_keys.shape[-1],
            _address(found.top_weights),
            _address(found.top_keys),
            *(wanted.cells or (0, 0)),
            _address(found.pooled_max),
            _address(found.pooled_mean),
            torch.get_num_threads(),
            scale,
            softcap or 0.0,
        )
    )
    context = out if out is None or out.dtype == query.dtype else out.to(query.dtype)
    return context, found


def _empty(wanted: Wanted, lead: tuple[int, int, int], keys: int) -> KernelStatistics:
    """Memory for what is wanted; zeros where the kernel adds."""
    top = min(wanted.top, keys)
    pools: tuple[Tensor | None, ...] = (None, None)
    if wanted.cells == (1, 1):  # the maximum and the mean of one weight are that weight
        pools = (torch.empty(*lead, keys),) * 2
    elif wanted.cells is not None:
        grid = (-(-lead[2] // wanted.cells[0]), -(-keys // wanted.cells[1]))
        pools = torch.empty(2, *lead[:2], *grid).unbind()
    return KernelStatistics(
        torch.empty(lead) if wanted.lse else None,
        torch.empty(*lead, top) if top else None,
        torch.empty(*lead, top, dtype=torch.int64) if top else None,
        torch.empty(lead) if wanted.entropy else None,
        torch.zeros(*lead[:2], keys) if wanted.received else None,
        *pools,
    )


def _array(tensor: Tensor) -> tuple[int, ...]:
    return (tensor.data_ptr(), *tensor.stride())


def _address(tensor: Tensor | None) -> int:
    return 0 if tensor is None else tensor.data_ptr()
