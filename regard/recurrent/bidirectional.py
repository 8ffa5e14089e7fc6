"""Bidirectional: one reader from each end, so that every position knows both its sides."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.record import note, recording, scope
from regard.recurrent.gated import GatedUnit


class Bidirectional(nn.Module):
    """h_j = [forward h_j; backward h_j]  (Bahdanau et al. 2015, section 3.2 and appendix A.2.1).

    Two gated units of their own; the annotation h_j (2 · hidden) of position j has read the whole
    sentence, with the most weight on what is near j.
    """

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.forwards = GatedUnit(width, hidden)
        self.backwards = GatedUnit(width, hidden)

    def forward(self, x: Tensor, lengths: Tensor | None = None) -> Tensor:
        """Annotations (batch, n, 2 · hidden) of ``x`` (batch, n, width).

        ``lengths`` (batch,): how many positions of each sequence are real.
        """
        with scope("forward"):
            forwards = self.forwards(x)
        with scope("backward"):
            backwards = self.backwards(x, lengths=lengths, backward=True)
        annotations = torch.cat((forwards, backwards), -1)
        if recording():
            note(
                "annotations",
                annotations,
                axes=("position", "hidden"),
                formula="h_j = [forward h_j ; backward h_j]",
                meaning="Each position with what stands before it and what stands behind it.",
            )
        return annotations
