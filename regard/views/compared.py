"""Compared: what somebody claims for a step, beside what it is."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product

from regard.trace import Array, Step, Trace

Index = tuple[int, ...]


@dataclass(frozen=True)
class Compared:
    """The numbers claimed for one step, NaN where nothing is, and why the wrong ones are wrong."""

    claimed: Array
    wrong: dict[Index, str] = field(default_factory=dict)
    off: Array | None = None
    """How far each may be from the true number and still be right; None if nobody asks again."""

    def reasons(self, row: Index) -> list[str]:
        """Why numbers of this row are wrong, each reason once."""
        return list(dict.fromkeys(why for at, why in self.wrong.items() if at[:-1] == row and why))


def rows_of(step: Step) -> list[Index]:
    """The indices of a step's rows; a vector, and a single number, is one row."""
    return list(product(*map(range, step.shape[:-1])))


def labels_of(trace: Trace, step: Step, memory: list[str]) -> dict[int, list[str]]:
    """By axis, a word for each of its places, where the axis counts words."""
    sides = {"query": trace.tokens, "position": trace.tokens, "key": memory or trace.tokens}
    found = {}
    for i, (axis, n) in enumerate(zip(step.axes, step.shape, strict=True)):
        if axis in step.labels:
            found[i] = list(step.labels[axis])
        elif axis in sides and len(sides[axis]) >= n:
            found[i] = list(sides[axis][:n])
        elif axis in ("query", "key", "position", "head", "weight", "score"):
            found[i] = [f"{axis} {j}" for j in range(n)]
    return found


def row_label(labels: dict[int, list[str]], row: Index) -> str:
    """``head 1, the``: what a row is of."""
    return ", ".join(labels[i][j] for i, j in enumerate(row) if i in labels)
