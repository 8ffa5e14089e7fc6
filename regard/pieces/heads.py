"""Heads: which pattern each head of a model follows, and the heads in the order of it.

Plain data: what inside/heads finds out and what the terminal, pictures and JSON show.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from regard.errors import RegardError, nearest

HEAD_KINDS = (
    "previous",
    "next",
    "same",
    "first",
    "separator",
    "repeat",
    "induction",
    "local",
    "broad",
)
"""Previous token, next token, same position, first-token sink, separator, same word again,
induction, local window, broad (entropy). A head of none of these is "mixed"."""

HeadPlace = tuple[int, int]
"""Layer and head, from 0."""


@dataclass(frozen=True)
class Scored:
    """One head: its kind, and the score of every kind that the text could show."""

    kind: str
    scores: dict[str, float | None]

    def to_json(self, place: HeadPlace) -> dict[str, Any]:
        """``{"layer", "head", "kind", "scores"}``"""
        scores = {kind: None if s is None else short(s) for kind, s in self.scores.items()}
        return {"layer": place[0], "head": place[1], "kind": self.kind, "scores": scores}


@dataclass(frozen=True)
class Heads:
    """All heads of a model (or of one part of it), judged by a text or by a corpus."""

    model: str
    tokens: list[str] | int
    """The tokens of the text; of a corpus, how many."""
    scored: dict[HeadPlace, Scored]
    weights: dict[HeadPlace, float | None] = field(default_factory=dict)
    """Of the named link, if there is one; None if no line of the corpus has both words."""

    def ranked(self, kind: str | None = None) -> list[HeadPlace]:
        """By the named link, by the score of ``kind``, or in their order if there is neither."""
        if kind is not None and kind not in HEAD_KINDS:
            known = ", ".join(HEAD_KINDS)
            raise RegardError(
                f"there is no kind {kind!r}{nearest(kind, HEAD_KINDS)} (known: {known})"
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
            entry = self.scored[place].to_json(place)
            if self.weights:
                weight = self.weights.get(place)
                entry["weight"] = None if weight is None else short(weight)
            heads.append(entry)
        return {"model": self.model, "tokens": self.tokens, "heads": heads}


def short(number: float) -> float:
    """Seven decimals: what float32 has of a weight."""
    return round(float(number), 7)
