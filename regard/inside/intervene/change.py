"""Change: one thing to do to the attention of some heads, and where it is in one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from regard.errors import RegardError

Edit = Callable[[Tensor], Tensor]
"""From what some heads mixed, (batch, heads, queries, width), to what is put in its place."""
Positions = int | Sequence[int] | None
"""One position, several, or None for all; counted from 0, padding too."""


@dataclass(frozen=True, eq=False)
class Change:
    """A mask between positions, a factor on scores, or an edit of what heads put out."""

    layer: int | None
    """From 0 among the layers of ``kind``; None: every one."""
    kind: str
    """"self", "cross", or, where a model has both, "encoder" or "decoder"."""
    heads: tuple[int, ...] | None
    """None: all."""
    batch: int | None = None
    """The row of the batch; None: every one."""
    query: tuple[int, ...] | None = None
    key: tuple[int, ...] | None = None
    renormalise: bool = True
    """Of a mask: whether the other weights of the row grow, as with a score of −inf."""
    edit: Edit | None = None
    factor: float | None = None
    """By which the scores q·k are multiplied."""

    @property
    def is_mask(self) -> bool:
        return self.edit is None and self.factor is None

    @property
    def where(self) -> str:
        """In words."""
        heads = "all heads" if self.heads is None else f"head {', '.join(map(str, self.heads))}"
        layer = "all layers" if self.layer is None else f"layer {self.layer}"
        return f"{heads} of {layer}" + ("" if self.kind == "self" else f" ({self.kind})")


@dataclass(frozen=True)
class Extent:
    """How far one call of attention reaches."""

    batch: int
    heads: int
    queries: int
    keys: int
    first: int | None
    """The position of the first query in its text, of further steps of ``generate`` not 0; None
    if it is not known."""
    start: int
    """The position of the first key."""
    device: torch.device

    def chosen(self, heads: tuple[int, ...] | None, where: str) -> list[int]:
        """The heads' numbers; those that are not there are refused."""
        if heads is None:
            return list(range(self.heads))
        outside = [h for h in heads if not 0 <= h < self.heads]
        if outside:
            raise RegardError(
                f"heads are counted from 0 and this layer has {self.heads}: there is no {where}, "
                f"got {outside[0]}"
            )
        return list(heads)

    def rows(self, change: Change) -> list[int]:
        """The queries of the call that a mask is about; empty if none of them is here."""
        return _within(change.query, self.first or 0, self.queries)

    def columns(self, change: Change) -> list[int]:
        return _within(change.key, self.start, self.keys)

    def nothing(self) -> Tensor:
        """(batch, heads, queries, keys): no pair at all."""
        shape = (self.batch, self.heads, self.queries, self.keys)
        return torch.zeros(shape, dtype=torch.bool, device=self.device)

    def sharpness(self, changes: Sequence[Change]) -> Tensor | None:
        """(batch, heads, 1, 1): what the changes multiply the scores by; None if none does."""
        factors = [(change, change.factor) for change in changes if change.factor is not None]
        if not factors:
            return None
        found = torch.ones((self.batch, self.heads, 1, 1), device=self.device)
        for change, by in factors:
            found[self.row(change), self.chosen(change.heads, change.where)] *= by
        return found

    def mark(self, change: Change, pairs: Tensor) -> None:
        """Make those ``pairs`` True on which a mask falls."""
        rows, columns = self.rows(change), self.columns(change)
        heads = self.chosen(change.heads, change.where)
        part = pairs[self.row(change)]
        place = torch.zeros_like(part[0])
        h, q, k = (torch.tensor(n, device=self.device) for n in (heads, rows, columns))
        place[h[:, None, None], q[:, None], k] = True
        part |= place

    def row(self, change: Change) -> slice:
        """The rows of the batch."""
        if change.batch is None:
            return slice(None)
        if not 0 <= change.batch < self.batch:
            raise RegardError(
                f"rows of the batch are counted from 0 and there are {self.batch}, "
                f"got batch={change.batch}"
            )
        return slice(change.batch, change.batch + 1)


def numbers(given: Positions, what: str) -> tuple[int, ...] | None:
    """``given`` as whole numbers from 0."""
    if given is None:
        return None
    several: list[Any] = list(given) if isinstance(given, (list, tuple, range)) else [given]
    wrong = [n for n in several if not isinstance(n, int) or isinstance(n, bool) or n < 0]
    if wrong or not several:
        got = repr(wrong[0]) if wrong else "none"
        raise RegardError(f"{what} is a whole number from 0, or several of them, got {got}")
    return tuple(several)


def _within(positions: tuple[int, ...] | None, first: int, count: int) -> list[int]:
    if positions is None:
        return list(range(count))
    return [p - first for p in positions if first <= p < first + count]
