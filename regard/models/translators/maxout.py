"""Readout: from what a recurrent decoder knows to the features that score the vocabulary."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from regard.record import note, recording


class Maxout(nn.Module):
    """t_j = max(t~_j, t~_{j + units}),  t~ = sum_k U_k x_k + b.

    The deep output of Bahdanau et al. (2015, appendix A.2.2) with one pairwise maxout layer
    (Goodfellow et al. 2013): there x = (s_{i-1}, E y_{i-1}, c_i). Each input has a matrix of its
    own, ``parts[k]`` (2 · units, width of x_k). The paper pairs neighbours, here the halves of t~
    are paired: the same function with the matrices' rows in another order, and faster.
    """

    def __init__(self, widths: tuple[int, ...], units: int) -> None:
        super().__init__()
        parts = [nn.Linear(width, 2 * units, bias=k == 0) for k, width in enumerate(widths)]
        for part in parts:
            nn.init.xavier_uniform_(part.weight)
        nn.init.zeros_(parts[0].bias)
        self.parts = nn.ModuleList(parts)

    def forward(self, *inputs: Tensor) -> Tensor:
        """The features (..., units) of ``inputs`` x_k (..., width of x_k)."""
        before = self.parts[0](inputs[0])
        for part, x in zip(self.parts[1:], inputs[1:], strict=True):
            before = before + part(x)
        features = torch.maximum(*before.chunk(2, -1))
        if recording():
            note(
                "readout",
                features,
                axes=("position", "width"),
                formula="t = max of pairs of U_o s + V_o E y + C_o c",
                meaning="What the state, the last word and the context say together.",
            )
        return features
