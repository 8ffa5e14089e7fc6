"""Mask: which query may attend to which key. Boolean, True = may attend, everywhere.

A mask is kept as rules and becomes a tensor only where somebody needs one, so that a causal mask
over 100,000 positions takes no memory and the fused kernels can use the rule itself.

    causal() & padding(lengths)        combined: both must allow
    window(128).dense(512)             as a boolean tensor

Positions are aligned at the end: with fewer queries than keys (step-by-step decoding), the last
query sits at the last key.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.errors import MaskError


@dataclass(frozen=True, eq=False)
class Mask:
    """Rules that must all hold for query i (at position p = i + keys − queries) to see key j."""

    causal: bool = False
    """j <= p."""
    before: int | None = None
    """p − j <= before: how far back a query may look."""
    after: int | None = None
    """j − p <= after: how far ahead."""
    allowed: Tensor | None = None
    """Boolean, broadcastable to (..., queries, keys): any other rule, such as padding."""

    def __post_init__(self) -> None:
        if self.allowed is None:
            return
        if not isinstance(self.allowed, Tensor) or self.allowed.dtype != torch.bool:
            got = getattr(self.allowed, "dtype", type(self.allowed).__name__)
            raise MaskError(
                f"a mask must be boolean, True = may attend, got {got}; for a 0/1 mask write "
                "mask.bool(), for an additive one mask == 0, for PyTorch's key_padding_mask ~mask"
            )
        if self.allowed.dim() < 2:  # a row of keys holds for every query
            object.__setattr__(self, "allowed", torch.atleast_2d(self.allowed))

    def __and__(self, other: Mask | Tensor) -> Mask:
        rules = as_mask(other) or Mask()
        return Mask(
            self.causal or rules.causal,
            _least(self.before, rules.before),
            _least(self.after, rules.after),
            _both(self.allowed, rules.allowed),
        )

    __rand__ = __and__  # a tensor on the left does not know what a Mask is and asks it

    @property
    def reach(self) -> tuple[int | None, int | None]:
        """How many positions a query can see (back, ahead); None where there is no bound."""
        return self.before, _least(self.after, 0) if self.causal else self.after

    def tile(
        self,
        rows: tuple[int, int],
        columns: tuple[int, int],
        queries: int,
        keys: int,
        device: torch.device | None = None,
    ) -> Tensor | None:
        """The part [rows) × [columns) of a ``queries`` × ``keys`` mask; None = all allowed."""
        tile = None
        if self.reach != (None, None):
            position = torch.arange(*rows, device=device).unsqueeze(-1) + (keys - queries)
            tile = self._near(torch.arange(*columns, device=device) - position)
        if self.allowed is not None:
            part = cut(self.allowed.to(device), rows, columns)
            tile = part if tile is None else tile & part
        return tile

    def between(self, rows: Tensor, columns: Tensor, queries: int, keys: int) -> Tensor:
        """Whether query ``rows[t, r]`` may see key ``columns[t, c]``: (heads or 1, t, r, c)."""
        position = rows.unsqueeze(-1) + (keys - queries)
        seen = self._near(columns.unsqueeze(-2) - position).unsqueeze(0)
        if self.allowed is None:
            return seen
        return seen & picked(self.allowed, rows.clamp_min(0), columns.clamp_min(0))

    def _near(self, ahead: Tensor) -> Tensor:
        """Whether keys that stand so far ahead of their queries are within reach."""
        before, after = self.reach
        near = torch.ones_like(ahead, dtype=torch.bool)
        if after is not None:
            near &= ahead <= after
        if before is not None:
            near &= ahead >= -before
        return near

    def dense(self, queries: int, keys: int | None = None) -> Tensor:
        """The whole mask as a boolean tensor (..., queries, keys)."""
        keys = queries if keys is None else keys
        self.check(queries, keys)
        tile = self.tile((0, queries), (0, keys), queries, keys)
        if tile is None:
            return torch.ones(queries, keys, dtype=torch.bool)
        return tile.expand(*tile.shape[:-2], queries, keys)

    def check(self, queries: int, keys: int) -> None:
        """Raise unless the mask's last two axes fit ``queries`` × ``keys``."""
        if self.allowed is None:
            return
        rows, columns = self.allowed.shape[-2:]
        if rows not in (1, queries) or columns not in (1, keys):
            raise MaskError(
                f"a mask must be broadcastable to (..., queries, keys) = (..., {queries}, {keys}), "
                f"got {tuple(self.allowed.shape)}"
            )


def causal() -> Mask:
    """A position sees itself and what came before it."""
    return _CAUSAL


_CAUSAL = Mask(causal=True)


def window(before: int, after: int | None = None) -> Mask:
    """A position sees ``before`` positions back and ``after`` ahead (the same if not given)."""
    if before < 0 or (after is not None and after < 0):
        raise MaskError(f"a window's reach must be 0 or more, got before={before}, after={after}")
    return Mask(before=before, after=before if after is None else after)


def padding(lengths: Tensor | Sequence[int], keys: int | None = None) -> Mask:
    """Sequence b of a batch has ``lengths[b]`` real keys; those behind them are padding.

    ``lengths`` is (batch,) whole numbers; ``keys`` is the padded length (the longest if not
    given). The rule is (batch, 1, keys).
    """
    lengths = _whole(lengths)
    if lengths.dtype.is_floating_point or lengths.dtype == torch.bool:
        raise MaskError(
            f"padding lengths must be whole numbers, got {lengths.dtype}; "
            "for a boolean mask of the keys use Mask(allowed=keys.unsqueeze(-2))"
        )
    shortest, longest = (int(n) for n in lengths.aminmax()) if lengths.numel() else (0, 0)
    keys = longest if keys is None else keys
    if shortest < 0 or longest > keys:
        raise MaskError(
            f"a length must be from 0 to the padded length {keys}, "
            f"got {shortest if shortest < 0 else longest}"
        )
    inside = torch.arange(keys, device=lengths.device) < lengths.unsqueeze(-1)
    return Mask(allowed=inside.unsqueeze(-2))


def as_mask(mask: Mask | Tensor | None) -> Mask | None:
    """Accept a :class:`Mask`, a boolean tensor (True = may attend) or None."""
    return mask if mask is None or isinstance(mask, Mask) else Mask(allowed=mask)


def cut(tensor: Tensor, rows: tuple[int, int], columns: tuple[int, int]) -> Tensor:
    """The part [rows) × [columns) of a tensor broadcastable to (…, queries, keys)."""
    if tensor.shape[-1] != 1:
        tensor = tensor[..., columns[0] : columns[1]]
    if tensor.dim() > 1 and tensor.shape[-2] != 1:
        tensor = tensor[..., rows[0] : rows[1], :]
    return tensor


def picked(tensor: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """(heads or 1, t, r, c) at ``rows`` (t, r) and ``columns`` (t, c) of a tensor broadcastable to
    (heads, queries, keys)."""
    tensor = tensor[(None,) * (3 - tensor.dim())]
    tall, wide = tensor.shape[-2:]
    r = rows.unsqueeze(-1) if tall > 1 else torch.zeros_like(rows).unsqueeze(-1)
    c = columns.unsqueeze(-2) if wide > 1 else torch.zeros_like(columns).unsqueeze(-2)
    return tensor[:, r, c]


def _whole(lengths: Tensor | Sequence[int]) -> Tensor:
    if isinstance(lengths, Tensor):
        return lengths
    try:
        return torch.tensor(lengths) if len(lengths) else torch.zeros(0, dtype=torch.int64)
    except (TypeError, ValueError):
        raise MaskError(
            "padding lengths must be whole numbers, one for each sequence of the batch: a tensor "
            f"or a list, got {lengths!r}"
        ) from None


def _both(a: Tensor | None, b: Tensor | None) -> Tensor | None:
    if a is None or b is None:
        return b if a is None else a
    try:
        return a & b
    except RuntimeError:
        raise MaskError(
            f"masks combined by & must broadcast to each other, got {tuple(a.shape)} "
            f"and {tuple(b.shape)}"
        ) from None


def _least(a: int | None, b: int | None) -> int | None:
    return b if a is None else a if b is None else min(a, b)
