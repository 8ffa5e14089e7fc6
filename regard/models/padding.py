"""Padding: which positions of a batch are real, and rows without the others.

Sequences are padded behind their end, to the longest of the batch.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor

from regard.errors import DataError

WORTH = 0.05
"""The share of padding from which it is worth leaving it out."""


class RealRows(NamedTuple):
    """Which of batch × n positions are held: ``rows`` of them, or all (None)."""

    rows: Tensor | None
    batch: int
    n: int

    @classmethod
    def of(cls, rows: Tensor | None, batch: int, n: int) -> RealRows:
        """Leave the padding out if that is worth it: ``rows`` are the real positions."""
        if rows is not None and len(rows) > (1 - WORTH) * batch * n:
            rows = None
        return cls(rows, batch, n)

    def gather(self, x: Tensor) -> Tensor:
        """(batch, n, width) → (tokens, width)."""
        flat = x.reshape(-1, x.shape[-1])
        return flat if self.rows is None else flat.index_select(0, self.rows)

    def spread(self, x: Tensor) -> Tensor:
        """(tokens, width) → (batch, n, width), zeros at the padding."""
        if self.rows is not None:
            x = x.new_zeros(self.batch * self.n, x.shape[-1]).index_copy(0, self.rows, x)
        return x.view(self.batch, self.n, -1)


def real_rows(lengths: Tensor, n: int) -> Tensor | None:
    """Which of B · n positions are within their row's ``lengths`` (B,); None = all of them."""
    if int(lengths.min()) >= n:
        return None
    inside = torch.arange(n, device=lengths.device) < lengths.unsqueeze(-1)
    return inside.flatten().nonzero().squeeze(-1)


def pick(x: Tensor, rows: Tensor | None) -> Tensor:
    """(B, T, width) → (B · T, width), or only its ``rows``."""
    flat = x.flatten(0, 1)
    return flat if rows is None else flat.index_select(0, rows)


def check_batch(source: Tensor, lengths: Tensor) -> None:
    """Raise unless every source has at least one token and lies within its padded row."""
    if source.dim() != 2 or not source.shape[0] or lengths.shape != source.shape[:1]:
        raise DataError(
            "a batch is source (sentences, tokens) with one length a sentence, at least one "
            f"sentence; got {tuple(source.shape)} and lengths {tuple(lengths.shape)}"
        )
    least, most = int(lengths.min()), int(lengths.max())
    if least < 1 or most > source.shape[1]:
        raise DataError(
            "a source has at least one token (EOS) and at most the batch's "
            f"{source.shape[1]}; got lengths from {least} to {most}"
        )
