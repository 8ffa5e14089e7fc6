"""Run the kernel on tensors: whether it can, what it is given, what it gives."""

from __future__ import annotations

import torch
from torch import Tensor

from regard.attention.kernel.layout import CallLayout, array
from regard.attention.kernel.library import MOST_TOP, MOST_WIDTH, Kernel, kernel
from regard.attention.private import watched
from regard.attention.rule import Rule
from regard.attention.wanted import PoolGrid, Statistics, Wanted

DTYPES = {torch.float32: 0, torch.float16: 1, torch.bfloat16: 2}
UNBOUNDED = 1 << 40
"""Further than any key is; larger numbers would not fit when places are added to them."""


def usable(
    query: Tensor,
    key: Tensor,
    value: Tensor | None = None,
    wanted: Wanted | None = None,
    trains: bool = False,
) -> Kernel | None:
    """The kernel, if it can take these tensors: of the CPU, of one dtype, and no gradient asked,
    unless it ``trains``.

    Whatever wants to see PyTorch's operations (compilers, tracers, vmap, autocast) gets them.
    """
    it, dtype = kernel(), query.dtype
    if it is None or dtype not in DTYPES or (wanted is not None and wanted.top > MOST_TOP):
        return None
    for tensor in (query, key) if value is None else (query, key, value):
        if type(tensor) is not Tensor and type(tensor) is not torch.nn.Parameter:
            return None
        if tensor.dtype != dtype or not tensor.is_cpu:
            return None
        if not trains and tensor.requires_grad and torch.is_grad_enabled():
            return None
        *_, count, width = tensor.shape
        if not count or width > MOST_WIDTH:
            return None
    return None if watched() else it


def run(
    it: Kernel,
    query: Tensor,
    key: Tensor,
    value: Tensor | None,
    rule: Rule,
    wanted: Wanted | None = None,
) -> tuple[Tensor | None, Statistics | None]:
    """The context (batch, heads, q, w), if there are values, and the statistics, if any are wanted.

    Query (batch, heads, q, d), key and value (batch, key heads, k, …), any strides. The rule's
    mask and bias are broadcastable to (batch, heads, q, k).
    """
    batch, heads, queries, _ = query.shape
    call, kept = describe(query, key, value, rule)
    # Tensors that the kernel has the address of are named, so that they live until it is done.
    out = found = None
    if value is not None:  # heads beside each other, ready to be concatenated
        out = floats(batch, queries, heads, value.shape[-1]).transpose(1, 2)
        call.out = array(out)
    if wanted is not None:
        keys = key.shape[2]
        grid = wanted.grid(queries, keys)
        found = _empty(wanted, grid, (batch, heads, queries), keys)
        _point_to(call, found, grid)
    it.attend(call)
    del kept
    return out if out is None or out.dtype == query.dtype else out.to(query.dtype), found


def describe(
    query: Tensor, key: Tensor, value: Tensor | None, rule: Rule
) -> tuple[CallLayout, list[Tensor]]:
    """What goes into a call, and the tensors made for it, which must live as long as it."""
    batch, heads, queries, width = query.shape
    key_heads, keys = key.shape[1], key.shape[2]
    before, after = (None, None) if rule.mask is None else rule.mask.reach
    call = CallLayout(
        query=array(query),
        key=array(key),
        dtype=DTYPES[query.dtype],
        batch=batch,
        heads=heads,
        key_heads=key_heads,
        queries=queries,
        keys=keys,
        width=width,
        before=_within(before),
        after=_within(after),
        threads=torch.get_num_threads(),
        scale=rule.scale,
    )
    if value is not None:
        call.value, call.value_width = array(value), value.shape[-1]
    if rule.softcap:
        call.softcap = rule.softcap
    kept = []
    if rule.mask is not None and rule.mask.allowed is not None:
        kept.append(rule.mask.allowed.expand(batch, heads, queries, keys))
        call.mask = array(kept[-1])
    if rule.bias is not None:
        kept.append(rule.bias.detach().float().expand(batch, heads, queries, keys))
        call.bias = array(kept[-1])
    return call, kept


def _within(reach: int | None) -> int:
    return UNBOUNDED if reach is None else max(-UNBOUNDED, min(reach, UNBOUNDED))


def floats(*shape: int) -> Tensor:
    """Memory that the kernel writes to, whatever PyTorch's defaults are."""
    return torch.empty(shape, dtype=torch.float32, device="cpu")


def _empty(
    wanted: Wanted, grid: PoolGrid | None, lead: tuple[int, int, int], keys: int
) -> Statistics:
    """Memory for what is wanted; zeros where the kernel adds."""
    top = min(wanted.top, keys)
    pools: tuple[Tensor | None, ...] = (None, None)
    if grid is not None and grid.rows == grid.columns == 1:
        pools = (floats(*lead, keys),) * 2  # of one weight, the maximum and mean are itself
    elif grid is not None:
        pools = floats(2, *lead[:2], *grid.shape).unbind()
    return Statistics(
        floats(*lead),
        floats(*lead, top) if top else None,
        torch.empty(*lead, top, dtype=torch.int64, device="cpu") if top else None,
        floats(*lead) if wanted.entropy else None,
        floats(*lead[:2], keys).zero_() if wanted.received else None,
        *pools,
    )


def _point_to(call: CallLayout, found: Statistics, grid: PoolGrid | None) -> None:
    """Fields of the call have the names of the statistics."""
    for name, tensor in zip(found._fields, found, strict=True):
        if tensor is not None:
            setattr(call, name, tensor.data_ptr())
    if found.top_keys is not None:
        call.top = found.top_keys.shape[-1]
    if grid is not None:
        call.cell_rows, call.cell_columns = grid.rows, grid.columns
