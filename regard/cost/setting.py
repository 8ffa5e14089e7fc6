"""Setting: what stays the same while n grows."""

from __future__ import annotations

from dataclasses import dataclass

from regard.errors import RegardError


@dataclass(frozen=True)
class Setting:
    """What stays the same while n grows."""

    width: int = 64
    """d, the width of a position's vector."""
    heads: int = 1
    """Heads that the width is divided among (attention only)."""
    window: int = 64
    """Positions that windowed attention sees on each side of its own."""

    def __post_init__(self) -> None:
        for name in ("width", "heads", "window"):
            if getattr(self, name) < 1:
                raise RegardError(f"the {name} must be 1 or more, got {getattr(self, name)}")
        if self.width % self.heads:
            raise RegardError(
                f"the heads must divide the width: got {self.heads} heads for width {self.width}"
            )

    @property
    def neighbours(self) -> int:
        """r, the positions that windowed attention sees: both sides and its own."""
        return 2 * self.window + 1
