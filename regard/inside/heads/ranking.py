"""Heads ranked: what kind each is, and how strongly it makes a link that somebody names."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from regard.errors import RegardError, nearest
from regard.inside.heads.kinds import KINDS, Scored
from regard.inside.look import Look
from regard.inside.lookfiles import head_json

Head = tuple[int, int]
"""Layer and head, from 0."""


@dataclass(frozen=True)
class Heads:
    """All heads of a model (or of one part of it), judged by a text or by a corpus."""

    model: str
    tokens: list[str] | int
    """The tokens of the text; of a corpus, how many."""
    scored: dict[Head, Scored]
    weights: dict[Head, float | None] = field(default_factory=dict)
    """Of the named link, if there is one; None if no line of the corpus has both words."""

    @staticmethod
    def of_look(look: Look) -> Heads:
        return Heads(look.model, look.queries.texts, look.heads, dict(look.weights))

    def ranked(self, kind: str | None = None) -> list[Head]:
        """By the named link, by the score of ``kind``, or in their order if there is neither."""
        if kind is not None and kind not in KINDS:
            raise RegardError(
                f"there is no kind {kind!r}{nearest(kind, KINDS)} (known: {', '.join(KINDS)})"
            )
        places = sorted(self.scored)
        if kind is not None:
            return sorted(places, key=lambda p: -(self.scored[p].scores[kind] or 0.0))
        if self.weights:
            return sorted(places, key=lambda p: -(self.weights.get(p) or 0.0))
        return places

    def to_json(self, kind: str | None = None) -> dict[str, Any]:
        """``{"model", "tokens", "heads": [{"layer", "head", "kind", "scores", "weight"?}]}``."""
        heads = []
        for place in self.ranked(kind):
            entry = head_json(place, self.scored[place])
            if self.weights:
                weight = self.weights.get(place)
                entry["weight"] = None if weight is None else round(weight, 7)
            heads.append(entry)
        return {"model": self.model, "tokens": self.tokens, "heads": heads}
