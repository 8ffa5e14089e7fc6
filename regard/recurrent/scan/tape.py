"""Tape of a scan: reading words onto it as one function, and the gradients that reach its slots.

The designs (lstmn.py, selfattentive.py) are the loop and its gradient; here is what autograd needs.
A slot's gradient is wanted when the scan comes to it, from the last slot to the first; by then all
steps that saw it are done.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

BLOCK = 16
"""Slots whose gradients are summed together."""


class TapeLimits(NamedTuple):
    """Which slots of a tape count, in a scan that reads n words onto m slots."""

    allowed: Tensor | None
    """(batch, m + n), False at slots without a word; None: all have one."""
    lengths: Tensor | None
    """How many positions of each sequence are real (batch,); None: all."""
    window: int | None
    """How many of the last slots are seen; None: all."""

    @property
    def forbidden(self) -> Tensor | None:
        """(batch, m + n), True at slots without a word."""
        return None if self.allowed is None else ~self.allowed

    def seen(self, stop: int) -> slice:
        """The slots before ``stop`` that a step sees."""
        return slice(0 if self.window is None else max(stop - self.window, 0), stop)


class TapeStart(NamedTuple):
    """What a scan begins with: n words, and what was read before, m slots."""

    limits: TapeLimits
    x: Tensor
    """The words (n, batch, width)."""
    values: Tensor
    """The slots (batch, m, width of a slot)."""
    keys: Tensor
    """The slots as the score needs them (batch, m, hidden)."""
    summary: Tensor
    """What was attended to last (batch, hidden)."""


class TapeScan(NamedTuple):
    """The result of reading n words onto a tape of m slots."""

    states: Tensor
    """h_t of the n words (n, batch, hidden)."""
    tape: Tensor
    """All slots (batch, m + n, width)."""
    summary: Tensor
    """What was attended to last, by each sequence's last real word (batch, hidden)."""
    keys: Tensor
    """The slots as the score needs them (batch, m + n, hidden); they carry no gradient."""


class TapeSteps(NamedTuple):
    """What the steps computed, and the gradient needs."""

    tape: Tensor
    """As in the result, and so the keys."""
    keys: Tensor
    weights: Tensor
    """(n, batch, m + n)."""
    mixed: Tensor
    """What each step found (n, batch, width of a slot)."""
    queries: Tensor
    """(n, batch, hidden); the LSTMN's gates stand before them."""


class ResultGradient(NamedTuple):
    """The gradient of a scan's result, as it comes from outside; None: nothing."""

    states: Tensor | None
    """Of the states (n, batch, hidden)."""
    tape: Tensor | None
    """Of the whole tape (batch, m + n, width)."""
    summary: Tensor | None = None
    """Of the last summary (batch, hidden)."""

    def add_to(self, d_word: Tensor, t: int, slot: int) -> None:
        """Add that of step t, in this slot, to ``d_word`` (batch, width)."""
        if self.tape is not None:
            d_word += self.tape[:, slot]
        if self.states is not None:
            d_word[:, : self.states.shape[-1]] += self.states[t]

    def add_to_first(self, slots: int, d_values: Tensor) -> Tensor:
        """``d_values`` (batch, slots, width) with that of the first ``slots``."""
        return d_values if self.tape is None else d_values.add_(self.tape[:, :slots])


class TapeDesign(Protocol):
    """A loop over words, and its gradient."""

    @staticmethod
    def forward(start: TapeStart, matrices: Any) -> tuple[TapeScan, TapeSteps]: ...

    @staticmethod
    def backward(
        start: TapeStart, steps: TapeSteps, given: ResultGradient, matrices: Any
    ) -> tuple[Tensor | None, ...]:
        """The gradients of x, the values, the keys, the summary, and of each matrix."""


def tape_scan(
    design: type[TapeDesign], start: TapeStart, matrices: Sequence[Tensor | None]
) -> TapeScan:
    """Read the words of ``start`` onto its tape; the gradient cannot be differentiated again."""
    found = _TapeFunction.apply(design, *start, *matrices)  # type: ignore[no-untyped-call]
    return TapeScan(*found)


class _TapeFunction(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any, design: type[TapeDesign], limits: TapeLimits, *tensors: Tensor
    ) -> tuple[Tensor, ...]:
        found, steps = design.forward(TapeStart(limits, *tensors[:4]), tensors[4:])
        ctx.design, ctx.limits = design, limits
        ctx.save_for_backward(*steps, *tensors)
        ctx.mark_non_differentiable(found.keys)
        ctx.set_materialize_grads(False)
        return tuple(found)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, *given: Tensor | None) -> tuple[Tensor | None, ...]:
        size = len(TapeSteps._fields)
        steps, tensors = TapeSteps(*ctx.saved_tensors[:size]), ctx.saved_tensors[size:]
        start = TapeStart(ctx.limits, *tensors[:4])
        found = ctx.design.backward(start, steps, ResultGradient(*given[:3]), tensors[4:])
        return None, None, *found


class SlotGradients:
    """g_s = sum over the steps t of w[t,s] d_t: what a slot gets back from the steps that saw it.

    ``weights`` w (n, batch, slots) and ``rows`` d (batch, n, width) are filled from their end on.
    Steps behind the slot's block are added for the whole block by one matrix product, so that
    their rows are not read once more for every slot.
    """

    def __init__(self, weights: Tensor, rows: Tensor) -> None:
        self.weights, self.rows = weights.permute(1, 2, 0), rows
        self.first, self.behind = weights.shape[2], weights.shape[0]
        self.far = rows

    def at(self, slot: int, t: int) -> Tensor:
        """That of ``slot`` (batch, width), which was seen by step t and those after it."""
        if slot < self.first:
            self.first, self.behind = max(slot + 1 - BLOCK, 0), t
            block = self.weights[:, self.first : slot + 1, t:]
            self.far = torch.bmm(block, self.rows[:, t:])
        near = slice(t, self.behind)
        beside = torch.bmm(self.weights[:, slot : slot + 1, near], self.rows[:, near])
        return beside.squeeze(1).add_(self.far[:, slot - self.first])

    def up_to(self, slots: int) -> Tensor:
        """Those of the first ``slots`` (batch, slots, width), when all steps are done."""
        return torch.bmm(self.weights[:, :slots], self.rows)


def extended(tape: Tensor, n: int) -> Tensor:
    """The ``tape`` (batch, m, width) with room for n slots more."""
    batch, slots, width = tape.shape
    made = tape.new_empty(batch, slots + n, width)
    made[:, :slots] = tape
    return made


def no_weights(x: Tensor, slots: int) -> Tensor:
    """Weights (n, batch, slots) for the words ``x`` (n, batch, width), zeros so far; those of a
    sequence stand beside each other."""
    n, batch, _ = x.shape
    return x.new_zeros(batch, n, slots).transpose(0, 1)


def last_summary(summaries: Tensor, first: Tensor, lengths: Tensor | None) -> Tensor:
    """That after each sequence's last word: of ``summaries`` (n, batch, hidden), or ``first``
    (batch, hidden) where no word was read."""
    if lengths is None:
        return summaries[-1].clone()
    rows = torch.arange(len(lengths), device=lengths.device)
    return torch.where((lengths > 0).unsqueeze(-1), summaries[lengths - 1, rows], first)


def last_summary_backward(
    d_last: Tensor | None, d_summaries: Tensor, lengths: Tensor | None
) -> Tensor:
    """The gradient of :func:`last_summary`: into ``d_summaries`` (batch, n, hidden), zeros so far;
    returns that of ``first``."""
    if d_last is None:
        return torch.zeros_like(d_summaries[:, 0])
    if lengths is None:
        d_summaries[:, -1] = d_last
        return torch.zeros_like(d_last)
    read = (lengths > 0).unsqueeze(-1)
    rows = torch.arange(len(lengths), device=lengths.device)
    d_summaries[rows, lengths - 1] = d_last.masked_fill(~read, 0)
    return d_last.masked_fill(read, 0)
