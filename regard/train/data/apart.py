"""Apart: pieces of words fall by chance into the two that they were merged from, anew in each pass.

A piece of a byte-pair vocabulary was made of two smaller ones, and these perhaps of smaller ones
still. A model that meets a word in one cut only learns the cut by heart; one that meets several

    ▁übersetzen      ▁über setzen      ▁über setz en

learns what its parts mean, which is what it needs for the words that it never saw. BPE-dropout
(Provilkov, Emelianenko & Voita 2020) draws cuts from the text; here they are drawn from the pieces,
which needs no text and, for a pass over a hundred thousand sentences, no time.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from regard.errors import DataError
from regard.pieces.tokenizer import Tokenizer

Table = np.ndarray[Any, np.dtype[np.int64]]


def halves(tokens: Tokenizer) -> Table:
    """The two pieces that each piece was merged from, (vocabulary, 2); -1 where it was not."""
    model = json.loads(tokens.to_text())["model"]
    if model["type"] != "BPE":
        raise DataError(
            "data.apart takes pieces of words apart: it needs tokens of byte-pair encoding "
            f"(data.level bpe), and these are of {model['type']}"
        )
    table = np.full((len(tokens), 2), -1, np.int64)
    ids, within = model["vocab"], model.get("continuing_subword_prefix") or ""
    for left, right in reversed(model["merges"]):  # of several ways to one piece the first remains
        table[ids[left + right.removeprefix(within)]] = ids[left], ids[right]
    return table


def taken_apart(
    rows: Sequence[list[int]], halves: Table, chance: float, seed: Sequence[int], most: int
) -> list[list[int]]:
    """The rows of ids with each piece in its two halves by ``chance``, and each half again.

    A row that would have more than ``most`` pieces stays as it is.
    """
    draw = np.random.Generator(np.random.PCG64(list(seed)))
    ids = np.array([piece for row in rows for piece in row], np.int64)
    owner = np.repeat(np.arange(len(rows)), [len(row) for row in rows])
    asked = np.ones(len(ids), bool)
    while asked.any():
        falls = asked & (halves[ids, 0] >= 0)
        falls[falls] = draw.random(int(falls.sum())) < chance
        place = np.repeat(np.arange(len(ids)), 1 + falls)
        second = np.r_[False, place[1:] == place[:-1]] if len(place) else np.zeros(0, bool)
        asked = falls[place]
        ids = np.where(asked, halves[ids[place], second.astype(np.int64)], ids[place])
        owner = owner[place]
    ends = np.cumsum(np.bincount(owner, minlength=len(rows)))
    fell = [part.tolist() for part in np.split(ids, ends[:-1])] if rows else []
    return [new if len(new) <= most else old for new, old in zip(fell, rows, strict=True)]
