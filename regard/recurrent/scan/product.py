"""Product: the matrix products of the loops, in float32 or, inside autocast, in bfloat16.

A loop with its gradient written out is not seen by ``torch.autocast``; it asks here. Sums, gates
and states stay in float32: only the factors of a product are rounded.
"""

from __future__ import annotations

import torch
from torch import Tensor


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
