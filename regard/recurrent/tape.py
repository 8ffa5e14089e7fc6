"""Tape: every state that was read, kept, for later words to attend to.

The tapes of a batch end together: a sequence that has read less than the others has its words in
the last slots and zeros before them. So the next word goes into the same slot for all of them.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.attention.attend import mix, weigh
from regard.attention.score import Score
from regard.errors import RegardError, ShapeError
from regard.record import recording
from regard.recurrent.scan.tape import extended


class Tapes(NamedTuple):
    """What a reader returns besides its outputs, and takes to go on reading where it stopped."""

    hidden: Tensor
    """h_i (layers, batch, slots, hidden), the last word in the last slot."""
    cells: Tensor | None
    """c_i of the same shape, of a reader that has memory cells."""
    summary: Tensor
    """What was attended to last (layers, batch, hidden): c_t, of the LSTMN h~_t."""
    lengths: Tensor
    """How many of the last slots hold a word (batch,)."""
    keys: Tensor | None = None
    """The h_i as the score needs them, already projected; used only while no gradient is kept."""

    @classmethod
    def of(cls, hidden: Tensor, cells: Tensor | None = None) -> Tapes:
        """Tapes of one word with the state h (layers, batch, hidden), and c: ``nn.LSTM``'s."""
        if hidden.dim() != 3:
            raise ShapeError(
                f"a first state has the axes (layers, batch, hidden), got {tuple(hidden.shape)}"
            )
        ones = torch.ones(hidden.shape[1], dtype=torch.long, device=hidden.device)
        cells = None if cells is None else cells.unsqueeze(2)
        return cls(hidden.unsqueeze(2), cells, hidden, ones)

    def detach(self) -> Tapes:
        """The same numbers, without what they were computed from: gradients end here."""
        cells = None if self.cells is None else self.cells.detach()
        return Tapes(self.hidden.detach(), cells, self.summary.detach(), self.lengths)

    def values(self) -> Tensor:
        """h_i, or [h_i; c_i]."""
        return self.hidden if self.cells is None else torch.cat((self.hidden, self.cells), -1)

    def check(self, like: Tensor, layers: int, batch: int, hidden: int, cells: bool) -> None:
        """Raise if these are not the tapes of such a reader and of a batch of this size."""
        slots = self.hidden.shape[2] if self.hidden.dim() == 4 else 0
        wanted = {
            "hidden": (self.hidden, (layers, batch, slots, hidden)),
            "summary": (self.summary, (layers, batch, hidden)),
            "lengths": (self.lengths, (batch,)),
        }
        if cells != (self.cells is not None):
            raise ShapeError(f"this reader's state has {'' if cells else 'no '}cells")
        if self.cells is not None:
            wanted["cells"] = (self.cells, (layers, batch, slots, hidden))
        if self.keys is not None:
            wanted["keys"] = (self.keys, (layers, batch, slots, hidden))
        for name, (tensor, shape) in wanted.items():
            if tensor.shape != shape:
                raise ShapeError(
                    f"the state's {name} must be {shape} here, got {tuple(tensor.shape)}"
                )
            kind = (tensor.dtype, tensor.device)
            if name != "lengths" and kind != (like.dtype, like.device):
                raise RegardError(
                    f"the state's {name} must have the input's dtype and device, {like.dtype} on "
                    f"{like.device}, got {kind[0]} on {kind[1]}; move it with .to(…)"
                )
        check_lengths(self.lengths, batch, slots, "slots")


def check_lengths(lengths: Tensor, batch: int, most: int, what: str) -> None:
    """Raise unless these are whole numbers from 0 to ``most``, one for each sequence."""
    if lengths.shape != (batch,):
        raise ShapeError(
            f"lengths needs one number for each of the {batch} sequences, "
            f"got the shape {tuple(lengths.shape)}"
        )
    if lengths.is_floating_point() or lengths.is_complex() or lengths.dtype == torch.bool:
        raise RegardError(f"lengths are whole numbers, got {lengths.dtype}")
    if batch and not 0 <= int(lengths.min()) <= int(lengths.max()) <= most:
        raise ShapeError(
            f"a length is from 0 to the {most} {what} there are, got {_range(lengths)}"
        )


def _range(lengths: Tensor) -> str:
    return f"{int(lengths.min())} to {int(lengths.max())}"


def aligned(tape: Tensor, before: Tensor, read: Tensor | None, n: int, keep: int | None) -> Tensor:
    """The last words of each sequence (batch, slots, …) moved to the end, zeros before them.

    The ``tape`` (batch, m + n, …) holds in its first m slots ``before`` (batch,) words, which
    end there, then ``read`` (batch,) of n new words; no more than ``keep`` are kept.
    """
    m = tape.shape[1] - n
    if read is None:
        return tape if keep is None else tape[:, max(m + n - keep, 0) :]
    words = before + read
    slots = int(words.max()) if len(words) else 0
    slots = slots if keep is None else min(slots, keep)
    at = torch.arange(slots, device=tape.device) - slots
    source = (at + (m + read).unsqueeze(1)).clamp(min=0)
    moved = tape.gather(1, source.unsqueeze(-1).expand(-1, -1, tape.shape[-1]))
    return moved.masked_fill((at < -words.unsqueeze(1)).unsqueeze(-1), 0)


class Buffer:
    """Rows (batch, width), one after the other.

    Without gradients they go into a tensor that has room for all from the start. With gradients
    they must not overwrite what earlier steps saw, so they are a list.
    """

    def __init__(self, start: Tensor, room: int) -> None:
        self.size, self.room = start.shape[1], room
        self.empty = start[:, :0]
        self.whole: Tensor | None = start
        self.rows: list[Tensor] = []
        if torch.is_grad_enabled():
            self.whole, self.rows = None, list(start.unbind(1))

    def append(self, row: Tensor) -> None:
        if self.whole is None:
            self.rows.append(row)
        else:
            if self.size == self.whole.shape[1]:
                self.whole = extended(self.whole, self.room)
            self.whole[:, self.size] = row
        self.size += 1

    def fill(self, whole: Tensor) -> None:
        """Be these rows (batch, slots, width)."""
        self.whole, self.size = whole, whole.shape[1]

    def since(self, first: int) -> Tensor:
        """The rows from ``first`` on (batch, slots, width)."""
        if self.whole is not None:
            return self.whole[:, first : self.size]
        return torch.stack(self.rows[first:], 1) if self.size > first else self.empty


class TapeMemory:
    """The tape of one layer during one call: it grows by a word at each step and is attended to."""

    def __init__(
        self,
        values: Tensor,
        keys: Tensor | None,
        lengths: Tensor,
        room: int,
        window: int | None = None,
    ) -> None:
        """``values`` (batch, m, width) and their ``keys``; ``room`` for that many words more."""
        self.before, self.room, self.window = values.shape[1], room, window
        self.values = Buffer(values, room)
        self.keys = None if keys is None else Buffer(keys, room)
        self.attended: list[Tensor] | None = None
        self.allowed: Tensor | None = None
        if len(lengths) and int(lengths.min()) < self.before:
            at = torch.arange(self.before + room, device=values.device)
            self.allowed = at >= (self.before - lengths).unsqueeze(1)

    def start(self) -> tuple[Tensor, Tensor]:
        """The values and keys so far (batch, slots, …)."""
        assert self.keys is not None
        return self.values.since(0), self.keys.since(0)

    def fill(self, values: Tensor, keys: Tensor) -> None:
        """Be these slots (batch, slots, …), all that there will be."""
        assert self.keys is not None
        self.values.fill(values)
        self.keys.fill(keys)

    def append(self, value: Tensor, key: Tensor | None = None) -> None:
        self.values.append(value)
        if self.keys is not None and key is not None:
            self.keys.append(key)

    def last(self) -> Tensor:
        """The last word's value (batch, width), zeros if nothing has been read."""
        if self.values.size:
            return self.values.since(self.values.size - 1)[:, 0]
        return self.values.empty.sum(1)

    def attend(self, query: Tensor, score: Score) -> Tensor:
        """The words' values mixed for the ``query`` (batch, d): (batch, width); zeros if none."""
        assert self.keys is not None
        size = self.values.size
        first = 0 if self.window is None else max(size - self.window, 0)
        keys, values = self.keys.since(first), self.values.since(first)
        allowed = None if self.allowed is None else self.allowed[:, first:size].unsqueeze(1)
        if size == first:
            weights = query.new_zeros(query.shape[0], 1, 0)
            mixed = values.sum(1, keepdim=True)
        elif allowed is None and not recording():
            weights = score(query.unsqueeze(1), keys).softmax(-1)
            mixed = weights @ values
        else:
            weights = weigh(score(query.unsqueeze(1), keys), allowed)
            mixed = mix(weights, values)
        if self.attended is not None:
            beyond = self.before + self.room - size
            self.attended.append(F.pad(weights.squeeze(1), (first, beyond)))
        return mixed.squeeze(1)

    def weights(self) -> Tensor:
        """Those of all steps (batch, steps, m + room), if they were to be kept."""
        if self.attended:
            return torch.stack(self.attended, 1)
        return self.values.empty.new_zeros(self.values.empty.shape[0], 0, self.before + self.room)
