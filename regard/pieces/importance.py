"""Importance: what each head of a model does to its output, on the mean over many texts.

Plain data: what inside/ablate adds up and what the terminal, pictures and JSON show.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from regard.pieces.heads import HeadPlace, short


@dataclass(frozen=True)
class HeadEffect:
    """One head, removed from every text."""

    change: float
    """Mean over the texts of value − base."""
    size: float
    """Mean of |value − base|: its importance."""
    spread: float
    """Standard deviation of value − base over the texts."""


@dataclass(frozen=True)
class Importance:
    """All heads of a model, judged by a corpus."""

    model: str
    metric: str
    part: str
    texts: int
    tokens: int
    heads: dict[HeadPlace, HeadEffect]

    def ranked(self) -> list[HeadPlace]:
        """The most important first."""
        return sorted(self.heads, key=lambda place: (-self.heads[place].size, place))

    def to_json(self) -> dict[str, Any]:
        """``{"model", "metric", "part", "texts", "tokens", "heads": [{"layer", "head",
        "importance", "change", "spread"}]}``, the most important first."""
        heads = [
            {
                "layer": place[0],
                "head": place[1],
                "importance": short(self.heads[place].size),
                "change": short(self.heads[place].change),
                "spread": short(self.heads[place].spread),
            }
            for place in self.ranked()
        ]
        return {
            "model": self.model,
            "metric": self.metric,
            "part": self.part,
            "texts": self.texts,
            "tokens": self.tokens,
            "heads": heads,
        }
