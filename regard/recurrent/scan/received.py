"""Received: what each slot of a tape gets back, in the gradient, from the steps that looked at it.

A slot's sum is wanted when the scan comes to it, from the last slot to the first; by then all
steps that saw it are done. Steps behind the slot's block are added for the whole block by one
matrix product, so that their rows are not read once more for every slot.
"""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 16
"""Slots summed together."""


class Received:
    """r_s = sum over the steps t of w[t,s] x_t.

    ``weights`` w (n, batch, slots) and ``rows`` x (batch, n, width) are filled from their end on.
    """

    def __init__(self, weights: Tensor, rows: Tensor) -> None:
        self.weights, self.rows = weights.permute(1, 2, 0), rows
        self.first, self.behind = weights.shape[2], weights.shape[0]
        self.far = rows

    def at(self, slot: int, t: int) -> Tensor:
        """The sum (batch, width) of ``slot``, whose steps are t and those after it."""
        if slot < self.first:
            self.first, self.behind = max(slot + 1 - BLOCK, 0), t
            block = self.weights[:, self.first : slot + 1, t:]
            self.far = torch.bmm(block, self.rows[:, t:])
        near = slice(t, self.behind)
        beside = torch.bmm(self.weights[:, slot : slot + 1, near], self.rows[:, near])
        return beside.squeeze(1).add_(self.far[:, slot - self.first])

    def up_to(self, slots: int) -> Tensor:
        """The sums (batch, slots, width) of the first ``slots``, when all steps are done."""
        return torch.bmm(self.weights[:, :slots], self.rows)
