"""Positions: added to the vectors that a Transformer reads, as long as the texts that came."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from regard.vectors.positions import sinusoidal

POSITIONS = 256
"""Positions that the table holds at first; it doubles when a longer text comes."""


class Positions(nn.Module):
    """x = sqrt(d) E w + PE  (Vaswani et al. 2017, sections 3.4 and 3.5)."""

    table: Tensor

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width
        self.register_buffer("table", sinusoidal(POSITIONS, width), persistent=False)

    def forward(self, vectors: Tensor, first: int = 0) -> Tensor:
        """``vectors`` (..., n, width) at the positions first … first + n − 1."""
        place = self.rows(vectors.shape[-2], first)
        return torch.add(place, vectors, alpha=math.sqrt(self.width))

    def rows(self, n: int, first: int = 0) -> Tensor:
        """Rows first … first + n − 1 of the table (n, width)."""
        if first + n > self.table.shape[0]:
            made = sinusoidal(2 * (first + n), self.width, dtype=self.table.dtype)
            self.table = made.to(self.table.device)
        return self.table[first : first + n]
