"""Packing: a matrix as 8-bit whole numbers with one scale a row, for models that are shipped.

    w[r, c]  ≈  scale[r] * n[r, c],    n from -127 to 127,    scale[r] = max_c |w[r, c]| / 127

so no weight moves by more than half a 254th of the largest of its row. What has one axis, and each
scale, is stored in half precision.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor

SCALE = ".scale"


def packed(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Each matrix as int8 and, under its name + ``.scale``, the scale of its rows."""
    small: dict[str, Tensor] = {}
    for name, weight in weights.items():
        if weight.dim() < 2:
            small[name] = weight.to(torch.float16)
            continue
        scale = (weight.float().abs().amax(-1, keepdim=True) / 127).to(torch.float16)
        # A row of zeros, or too small for half precision: any scale but 0 gives its zeros back.
        scale[scale == 0] = 1
        small[name] = (weight / scale.float()).round().clamp(-127, 127).to(torch.int8)
        small[name + SCALE] = scale
    return small


def unpacked(weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Float32 weights of packed ones; weights that are not packed pass as they are."""
    whole = dict(weights)
    for name in [n for n, weight in weights.items() if weight.dtype == torch.int8]:
        whole[name] = weights[name].float() * whole.pop(name + SCALE).float()
    return whole
