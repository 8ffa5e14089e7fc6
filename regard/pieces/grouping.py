"""Grouping: pieces of words made words again, and numbers about pieces made numbers about words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from itertools import pairwise

import numpy as np

from regard.pieces.pieces import Place
from regard.pieces.tokenise import spans
from regard.text import Word
from regard.trace import Array


def group(text: str, labels: Sequence[str], places: Sequence[Place]) -> list[Word]:
    """Neighbouring pieces whose first letters belong to one word of the text are that word.

    ``places`` are the characters of each piece. A piece without any (a special one) or of white
    space alone stands by itself; but a single blank belongs to the word behind it, as it does
    where a tokenizer puts it into the word's first piece. Words are those of
    tokenise.py.
    """
    owners = _owners(text, places)
    edges = [0] if owners else []
    edges += [i for i in range(1, len(owners)) if owners[i] is None or owners[i] != owners[i - 1]]
    words = []
    for start, stop in pairwise([*edges, len(owners)]):
        first, last = places[start], places[stop - 1]
        name = text[first[0] : last[1]].strip() if first else ""
        words.append(Word(name or labels[start], start, stop))
    return words


def _owners(text: str, places: Sequence[Place]) -> list[int | None]:
    """The number of the word of the text that each piece belongs to, if it does to any."""
    starts = [start for start, _ in spans(text)]
    owners: list[int | None] = []
    for place in places:
        part = text[slice(*place)] if place else ""
        blank = len(part) - len(part.lstrip())
        owners.append(bisect_right(starts, place[0] + blank) - 1 if part[blank:] else None)
    alone = [owner is None for owner in owners]
    for i, (place, after) in enumerate(pairwise(places)):
        if alone[i] and not alone[i + 1] and place and text[slice(*place)] == " ":
            owners[i] = owners[i + 1] if after[0] == place[1] else None
    return owners


def by_word(rows: Array, words: Sequence[Word], mean: bool) -> Array:
    """The rows of words: the sum of their pieces' rows, or the mean."""
    if not words:
        return rows[:0]
    starts = [word.start for word in words]
    sums: Array = np.add.reduceat(rows, starts, axis=0)
    if not mean:
        return sums
    counts = np.array([word.stop - word.start for word in words], sums.dtype)
    means: Array = sums / counts.reshape(-1, *(1,) * (rows.ndim - 1))
    return means
