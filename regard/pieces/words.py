"""Pieces of words made words again, and numbers about pieces made numbers about words."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence

import numpy as np

from regard.pieces.tokenizer import SPECIAL, START
from regard.trace import Array


def word_starts(pieces: Sequence[str], spaced: bool = False) -> list[int]:
    """Where in ``pieces`` a word begins; ``spaced``: every piece is a word."""
    return [i for i, p in enumerate(pieces) if spaced or i == 0 or _begins(pieces[i - 1], p)]


def gathered(pieces: Sequence[str], rows: Array, mean: bool) -> tuple[list[str], Array]:
    """Pieces and their rows, the pieces of a word made one: the rows' mean or sum."""
    starts = word_starts(pieces)
    if not starts:
        return [], rows[:0]
    return words_of(pieces, starts), by_word(rows, starts, mean)


def words_of(pieces: Sequence[str], starts: Sequence[int]) -> list[str]:
    """The texts of the words that begin at ``starts``."""
    ends = [*starts[1:], len(pieces)]
    return ["".join(pieces[a:b]).removeprefix(START) for a, b in zip(starts, ends, strict=True)]


def by_word(rows: Array, starts: Sequence[int], mean: bool) -> Array:
    """The rows of words that begin at ``starts``: the sum of their pieces' rows, or the mean."""
    sums: Array = np.add.reduceat(rows, starts, axis=0)
    if not mean:
        return sums
    counts = np.diff([*starts, len(rows)]).astype(sums.dtype)
    means: Array = sums / counts.reshape(-1, *(1,) * (rows.ndim - 1))
    return means


def _begins(before: str, piece: str) -> bool:
    """Whether ``piece`` begins a token of its own: a word, a punctuation mark, a special token."""
    if before == START:  # a mark after a space is cut into the space and the mark
        return False
    return piece.startswith(START) or _apart(piece) or _apart(before)


def _apart(piece: str) -> bool:
    mark = piece.removeprefix(START)
    return piece in SPECIAL or (len(mark) == 1 and unicodedata.category(mark).startswith("P"))
