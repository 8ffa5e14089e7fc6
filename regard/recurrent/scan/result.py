"""Scanned: what a scan over a tape gives, and the summary at each sequence's own end."""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor


class Scanned(NamedTuple):
    """The result of reading n words onto a tape of m slots."""

    states: Tensor
    """h_t of the n words (n, batch, hidden)."""
    tape: Tensor
    """All slots (batch, m + n, width)."""
    summary: Tensor
    """What was attended to last, by each sequence's last real word (batch, hidden)."""
    keys: Tensor
    """The slots as the score needs them (batch, m + n, hidden); they carry no gradient."""


class Given(NamedTuple):
    """What comes from outside into the gradient of a scan; None: nothing."""

    states: Tensor | None
    """Of the states (n, batch, hidden)."""
    tape: Tensor | None
    """Of the whole tape (batch, m + n, width)."""

    def add_to(self, d_word: Tensor, t: int, slot: int) -> None:
        """Add what is given for step t, in this slot, to ``d_word`` (batch, width)."""
        if self.tape is not None:
            d_word += self.tape[:, slot]
        if self.states is not None:
            d_word[:, : self.states.shape[-1]] += self.states[t]

    def of_first(self, slots: int, d_values: Tensor) -> Tensor:
        """``d_values`` (batch, slots, width) with what is given for the first ``slots``."""
        return d_values if self.tape is None else d_values.add_(self.tape[:, :slots])


def extended(tape: Tensor, n: int) -> Tensor:
    """The ``tape`` (batch, m, width) with room for n slots more."""
    batch, _, width = tape.shape
    return torch.cat((tape, tape.new_empty(batch, n, width)), 1)


def last(recalled: Tensor, first: Tensor, lengths: Tensor | None) -> Tensor:
    """The summary after each sequence's last word: of ``recalled`` (n, batch, hidden), or ``first``
    (batch, hidden) where no word was read."""
    if lengths is None:
        return recalled[-1].clone()
    rows = torch.arange(len(lengths), device=lengths.device)
    return torch.where((lengths > 0).unsqueeze(-1), recalled[lengths - 1, rows], first)


def spread(d_last: Tensor | None, d_recalled: Tensor, lengths: Tensor | None) -> Tensor:
    """The gradient of :func:`last`: into ``d_recalled`` (batch, n, hidden), zeros so far; returns
    that of ``first``."""
    if d_last is None:
        return torch.zeros_like(d_recalled[:, 0])
    if lengths is None:
        d_recalled[:, -1] = d_last
        return torch.zeros_like(d_last)
    read = (lengths > 0).unsqueeze(-1)
    rows = torch.arange(len(lengths), device=lengths.device)
    d_recalled[rows, lengths - 1] = d_last.masked_fill(~read, 0)
    return d_last.masked_fill(read, 0)
