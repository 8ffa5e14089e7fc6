"""Sentences that the shipped translators were not trained on, for the measurements beside this."""

from __future__ import annotations

from random import Random

from regard.train.data.examples import by_group
from regard.train.data.pairs import Pair, read_pairs


def held_out(path: str, part: str, count: int, seed: int, words: int = 100) -> list[Pair]:
    """Some German-English pairs of the "valid" or "test" side of benchmarks/tatoeba.py, of at most
    so many words a side, each sentence once."""
    rows = read_pairs(path, 2, 1).rows
    places = by_group(rows, 0.01, 0.01, 0)
    found: dict[str, Pair] = {}
    for row, place in zip(rows, places, strict=True):
        if place == part and max(len(text.split()) for text in row.texts()) <= words:
            found.setdefault(row.target, row)
    several = list(found.values())
    return Random(seed).sample(several, min(count, len(several)))
