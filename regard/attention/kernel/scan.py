"""Run the kernel's scan of recurrent self-attention: all its words by one call, and back."""

from __future__ import annotations

from torch import Tensor

from regard.attention.kernel.additive import AdditiveLook, usable
from regard.attention.kernel.layout import ScanLayout, tape

SELFATTENTIVE, LSTMN = 0, 1
"""The designs; the same in scan.h."""
FEW = 8
"""With fewer words than this, laying out the matrices takes longer than it saves."""


class AdditiveScan:
    """All steps of a ``look`` over a tape, and what a design does between them.

    Names and axes are those of scan.h: ``sums`` (n, batch, width of the design), ``summary``
    (batch, hidden), matrices (out, hidden).
    """

    def __init__(
        self,
        look: AdditiveLook,
        design: int,
        window: int | None,
        sums: Tensor,
        summary: Tensor,
        *matrices: Tensor | None,
    ) -> None:
        words, self.look = sums.shape[0], look
        # Named, so that they live as long as this: the kernel gets addresses.
        self.kept = [None if x is None else x.contiguous() for x in matrices]
        places = [None if x is None else x.data_ptr() for x in self.kept]
        given = dict(zip(("recurrent", "key", "query", "previous"), places, strict=False))
        self.call = ScanLayout(
            look=look.call,
            design=design,
            words=words,
            slots=look.slots - words,
            window=window or 0,
            sums=tape(sums, "tb"),
            summary=tape(summary, "b"),
            **given,
        )

    def read(self) -> None:
        """Write what the steps make: the tape, its keys, queries, weights, what is mixed."""
        self.look.it.scan(self.call, False)

    def read_back(self, d_sums: Tensor, d_states: Tensor | None, d_tape: Tensor | None) -> None:
        """Write ``d_sums`` (n, batch, width of the design) and all gradients of the look, from
        those of the states (n, batch, hidden) and of the tape (batch, slots, width)."""
        self.call.d_sums = tape(d_sums, "tb")
        d_states, d_tape = (
            x if x is None or x.stride(-1) == 1 else x.contiguous() for x in (d_states, d_tape)
        )
        if d_states is not None:
            self.call.d_states = tape(d_states, "tb")
        if d_tape is not None:
            self.call.d_tape = tape(d_tape, "bs")
        self.look.it.scan(self.call, True)


def additive_scan(
    look: AdditiveLook | None,
    design: int,
    window: int | None,
    sums: Tensor,
    summary: Tensor,
    *matrices: Tensor | None,
) -> AdditiveScan | None:
    """The kernel's scan, if it can take these and it is worth it."""
    if look is None or len(sums) < FEW:
        return None
    if not usable(sums, summary, *(x for x in matrices if x is not None)):
        return None
    return AdditiveScan(look, design, window, sums, summary, *matrices)
