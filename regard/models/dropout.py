"""Dropout: a share of the numbers becomes 0 while training, the rest is scaled up."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn


class Dropout(nn.Module):
    """y = x · keep / (1 − p), keep = 0 with probability p  (Srivastava et al. 2014).

    On a CPU the keep mask is drawn two bytes a number, four numbers from one draw of the random
    generator, several times faster than PyTorch's one draw for each; p is then rounded to a
    multiple of 1/65536.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p

    def __call__(self, x: Tensor) -> Tensor:
        dropped: Tensor = super().__call__(x)
        return dropped

    def forward(self, x: Tensor) -> Tensor:
        if not self.training or not self.p:
            return x
        if x.device.type != "cpu":
            return F.dropout(x, self.p)
        steps = round(self.p * 65536)
        draws = torch.empty((x.numel() + 3) // 4, dtype=torch.int64).random_(-(2**63), None)
        keep = draws.view(torch.int16)[: x.numel()].view(x.shape) >= steps - 32768
        return x * keep.to(x.dtype).mul_(65536 / (65536 - steps))

    def extra_repr(self) -> str:
        return f"p={self.p}"
