"""Kinds: how much of a head's attention follows a simple pattern. docs/heads.md has it in words.

For each kind, over the queries i where the pattern has a target T_i among the keys that i sees:

    score  = mean_i sum_{j in T_i} a[i,j]
    chance = mean_i |T_i| / (keys that i sees)          what attention spread evenly would give
    excess = (score − chance) / (1 − chance)

Sums and counts are kept apart from their quotients, so that texts add up to a corpus.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.pieces.heads import HEAD_KINDS, Scored

WINDOW = 3
"""Positions on either side that "local" reaches."""
CLEAR = 0.3
"""The excess from which on a pattern names a head."""
EVEN = 0.7
"""The share of the highest possible entropy from which on a head is broad."""
FEWEST = 3
"""Queries that must be able to show a pattern before it names a head."""
NEAR = ("previous", "next", "same")
"""Kinds inside the local window."""


@dataclass
class Tally:
    """Sums over queries for all heads of a layer: (heads, kinds), in the order of HEAD_KINDS."""

    score: Tensor
    chance: Tensor
    count: Tensor

    @staticmethod
    def empty(heads: int) -> Tally:
        return Tally(*(torch.zeros(heads, len(HEAD_KINDS), dtype=torch.float64) for _ in range(3)))

    def __iadd__(self, other: Tally) -> Tally:
        self.score += other.score
        self.chance += other.chance
        self.count += other.count
        return self


def scored(sums: Tally) -> list[Scored]:
    """The heads of a layer, by their sums."""
    count = sums.count.clamp_min(1)
    score, chance = sums.score / count, sums.chance / count
    excess = (score - chance) / (1 - chance).clamp_min(1e-9)
    result = []
    for head in range(len(score)):
        there = [bool(n > 0) for n in sums.count[head]]
        scores = {
            kind: float(score[head, k]) if there[k] else None for k, kind in enumerate(HEAD_KINDS)
        }
        above = {
            kind: float(excess[head, k]) if sums.count[head, k] >= FEWEST else 0.0
            for k, kind in enumerate(HEAD_KINDS)
        }
        result.append(Scored(kind_of(scores, above), scores))
    return result


def kind_of(scores: dict[str, float | None], excess: dict[str, float]) -> str:
    """The pattern that stands out most; else broad, if attention is spread; else mixed.

    Previous, next and same name a head only if they are at least half of the local window's
    weight; otherwise the head is local.
    """
    window = scores["local"] or 0.0
    named = {
        kind: excess[kind]
        for kind in HEAD_KINDS[: HEAD_KINDS.index("local")]
        if kind not in NEAR or (scores[kind] or 0.0) >= window / 2
    }
    best = max(named, key=lambda kind: named[kind])
    if named[best] >= CLEAR:
        return best
    if excess["local"] >= CLEAR:
        return "local"
    return "broad" if (scores["broad"] or 0.0) >= EVEN else "mixed"
