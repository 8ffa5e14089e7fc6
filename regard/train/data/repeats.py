"""Repeats: the short sentences that everybody tries first, seen more than once in a pass.

A collection has *Tom kommt.* in a hundred forms and *Frohe Weihnachten!* twice. The parts of a long
sentence are learned from others that share them; a greeting shares its words with nothing, and is
learned by being seen.
"""

from __future__ import annotations

from collections.abc import Sequence

from regard.train.data.pairs import Pair

SHORT = 3
"""Words of a source that counts as short."""


def repeated(pairs: Sequence[Pair], times: int) -> list[Pair]:
    """The pairs, those with a source of at most three words ``times`` times each."""
    return [
        pair for pair in pairs for _ in range(times if len(pair.source.split()) <= SHORT else 1)
    ]
