"""Product: the matrix products of the loops, in float32 or, inside autocast, in bfloat16.

A loop with its gradient written out is not seen by ``torch.autocast``; it asks here. Sums, gates
and states stay in float32: only the factors of a product are rounded. Products over all words at
once are by the faster of PyTorch's libraries.
"""

from __future__ import annotations

from functools import cache

import torch
from torch import Tensor

from regard.attention.private import one_dnn_ahead, one_dnn_product, watched


def product_type(x: Tensor) -> torch.dtype:
    """What autocast wants the factors of a product on ``x``'s device to be; else ``x``'s own."""
    device = x.device.type
    return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else x.dtype


def add_product(base: Tensor, x: Tensor, weight: Tensor, out: Tensor | None = None) -> Tensor:
    """out = base + x · weight, the product in the type of ``weight``, the sum in ``base``'s."""
    if base.dtype == weight.dtype:
        return torch.addmm(base, x.to(base.dtype), weight, out=out)
    return torch.add(base, x.to(weight.dtype) @ weight, out=out)


def product(x: Tensor, y: Tensor, kind: torch.dtype) -> Tensor:
    """x · y with both rounded to ``kind``, in the type of ``x``."""
    return (x.to(kind) @ y.to(kind)).to(x.dtype)


def long_product(x: Tensor, y: Tensor) -> Tensor:
    """x · y (rows, k) · (k, columns), of many rows or a large k."""
    plain = x.dtype == y.dtype == torch.float32 and x.is_cpu and not watched()
    made = one_dnn_product(_dense(x), _dense(y.t()), None) if plain and _ahead() else None
    return x @ y if made is None else made


def _dense(x: Tensor) -> Tensor:
    """Without gaps, by rows or by columns: oneDNN takes a thousand times as long for others."""
    return x if x.is_contiguous() or x.t().is_contiguous() else x.contiguous()


_ahead = cache(one_dnn_ahead)
