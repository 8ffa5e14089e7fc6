"""Wanted: what is to be found out about weights that nobody keeps; Statistics: what was found.

For each query i of each head, with e_ij its masked score of key j and a_ij its weight:

    lse_i      = log sum_j exp(e_ij)
    top        the k largest a_ij and where they are
    entropy_i  = − sum_j a_ij log a_ij = lse_i − sum_j a_ij e_ij      in nats
    received_j = sum_i a_ij
    pooled     the maximum and the mean of a in cells of a coarse grid

What is told of a row that is no number (a NaN in its query, or in a key it sees) is NaN; so is, of
received and pooled attention, all that such a row may have part in and some keys beside its reach.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

import torch
from torch import Tensor

from regard.errors import RegardError, nearest


@dataclass(frozen=True)
class Wanted:
    """Which statistics are asked for; the log-sum-exp of each row comes with any of them."""

    top: int = 0
    """So many of each row's largest weights, and their keys."""
    entropy: bool = False
    received: bool = False
    cells: int = 0
    """Pooled maps of at most cells × cells."""

    def __post_init__(self) -> None:
        for name in ("top", "cells"):
            if getattr(self, name) < 0:
                raise RegardError(f"{name} must be 0 or more, got {getattr(self, name)}")

    @classmethod
    def of(cls, options: Mapping[str, int]) -> Wanted:
        """By the names of the statistics, as a user gives them."""
        known = [field.name for field in fields(cls)]
        for name in options:
            if name not in known:
                raise RegardError(
                    f"statistics are {', '.join(known)}, got {name!r}{nearest(name, known)}"
                )
        return cls(
            int(options.get("top", 0)),
            bool(options.get("entropy")),
            bool(options.get("received")),
            int(options.get("cells", 0)),
        )

    def covers(self, other: Wanted) -> bool:
        """Whether all that ``other`` asks for is asked for here, and in the same number."""
        pairs = ((getattr(self, f.name), getattr(other, f.name)) for f in fields(self))
        return all(not theirs or ours == theirs for ours, theirs in pairs)

    def grid(self, queries: int, keys: int) -> PoolGrid | None:
        return PoolGrid(queries, keys, self.cells) if self.cells else None


EVERYTHING = Wanted(top=8, entropy=True, received=True, cells=64)
"""What ``observe(statistics=True)`` stands for."""


class Statistics(NamedTuple):
    """What one pass found; what was not asked for is None. Axes: (batch,) head, query, …"""

    lse: Tensor
    """(heads, queries); −inf where a query may attend to nothing."""
    top_weights: Tensor | None = None
    """(heads, queries, k), largest first."""
    top_keys: Tensor | None = None
    """(heads, queries, k): the keys of these weights."""
    entropy: Tensor | None = None
    """(heads, queries), in nats."""
    received: Tensor | None = None
    """(heads, keys): the attention that each key gets from all queries together."""
    pooled_max: Tensor | None = None
    """(heads, row cells, column cells)"""
    pooled_mean: Tensor | None = None

    def each(self, part: Callable[[Tensor], Tensor]) -> Statistics:
        """``part`` of every one of them: a batch item, some heads."""
        rest = (None if tensor is None else part(tensor) for tensor in self[1:])
        return Statistics(part(self.lse), *rest)

    def only(self, wanted: Wanted) -> Statistics:
        """What is wanted of it, and nothing else."""
        return Statistics(
            self.lse,
            self.top_weights if wanted.top else None,
            self.top_keys if wanted.top else None,
            self.entropy if wanted.entropy else None,
            self.received if wanted.received else None,
            self.pooled_max if wanted.cells else None,
            self.pooled_mean if wanted.cells else None,
        )


class PoolGrid:
    """A coarse grid over (queries, keys): at most ``cells`` cells on a side, all but the last of
    one size."""

    def __init__(self, queries: int, keys: int, cells: int) -> None:
        self.queries, self.keys = queries, keys
        self.rows = max(1, math.ceil(queries / cells))
        self.columns = max(1, math.ceil(keys / cells))
        self.shape = math.ceil(queries / self.rows), math.ceil(keys / self.columns)

    def empty(self, heads: int, device: torch.device) -> tuple[Tensor, Tensor]:
        return (
            torch.zeros(heads, *self.shape, device=device),
            torch.zeros(heads, *self.shape, device=device),
        )

    def add(
        self,
        pools: tuple[Tensor, Tensor],
        weights: Tensor,
        rows: tuple[int, int],
        columns: tuple[int, int],
    ) -> None:
        """Add a block whose first row begins a cell; weights are ≥ 0, so zeros pad a maximum."""
        lead = columns[0] % self.columns
        behind = -(lead + weights.shape[-1]) % self.columns
        below = -weights.shape[-2] % self.rows
        if lead or behind or below:
            weights = torch.nn.functional.pad(weights, (lead, behind, 0, below))
        tiles = weights.unflatten(-1, (-1, self.columns))
        first = columns[0] // self.columns
        across = slice(first, first + tiles.shape[-2])
        down = slice(rows[0] // self.rows, rows[0] // self.rows + weights.shape[-2] // self.rows)
        for pool, reduced in zip(pools, (tiles.amax(-1), tiles.sum(-1)), strict=True):
            tall = reduced.unflatten(-2, (-1, self.rows))
            pool[:, down, across] = tall.amax(-2) if pool is pools[0] else tall.sum(-2)

    def finish(self, pools: tuple[Tensor, Tensor]) -> None:
        """Turn sums into means over the real weights of each cell."""
        pools[1].div_(self.sizes(pools[1].device))

    def sizes(self, device: torch.device) -> Tensor:
        """How many weights each cell covers."""
        parts = []
        for n, size, count in zip(
            (self.queries, self.keys), (self.rows, self.columns), self.shape, strict=True
        ):
            starts = torch.arange(count, device=device) * size
            parts.append((n - starts).clamp_max(size).float())
        return parts[0].unsqueeze(-1) * parts[1]
