"""A look that no model made: weights that a test can know."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from regard.attention import AttentionMap, Word
from regard.pieces.heads import HEAD_KINDS, Scored
from regard.pieces.look import Look, LookRequest, WordPlace
from regard.pieces.pieces import Pieces

TEXTS = ["[CLS]", "it", "was", "un", "##real", "[SEP]"]
WEIGHTS = np.array(
    [
        [0.5, 0.1, 0.1, 0.1, 0.1, 0.1],
        [0.2, 0.1, 0.3, 0.2, 0.1, 0.1],
        [0.1, 0.6, 0.1, 0.05, 0.05, 0.1],
        [0.1, 0.1, 0.5, 0.1, 0.1, 0.1],
        [0.1, 0.1, 0.1, 0.5, 0.1, 0.1],
        [0.7, 0.1, 0.05, 0.05, 0.05, 0.05],
    ],
    np.float32,
)
"""Of layer 1, head 2."""


def pieces() -> Pieces:
    special = [True, False, False, False, False, True]
    words = [
        *(Word("[CLS]", 0, 1), Word("it", 1, 2), Word("was", 2, 3)),
        *(Word("unreal", 3, 5), Word("[SEP]", 5, 6)),
    ]
    plain = Pieces.plain(TEXTS, range(6))
    return replace(plain, words=words, special=special, separators=[False] * 5 + [True])


def scored(kind: str, score: float) -> Scored:
    scores: dict[str, float | None] = {name: 0.01 for name in HEAD_KINDS}
    scores["induction"] = None
    return Scored(kind, scores | {kind: score} if kind in scores else scores)


def made_up(**request: Any) -> Look:
    """Two layers of three heads; what ``request`` does not ask for is not there."""
    asked = LookRequest(**request)
    text = pieces()
    look = Look("made-up", asked, text, text, 1 if asked.layer is not None else 2)
    kinds = [("previous", 0.9), ("mixed", 0.0), ("local", 0.5), ("first", 1.0), ("broad", 0.7)]
    for number, (kind, score) in enumerate([*kinds, ("previous", 0.4)]):
        place = divmod(number, 3)
        if asked.layer in (None, place[0]):
            look.heads[place] = scored(kind, score)
            look.links[place] = [(2, 1, 0.9 - number / 10), (4, 3, 0.05)]
            look.sink[place[0]] = 0.25
    look.done = look.layers
    if asked.word is not None:
        row = np.stack([WEIGHTS[1], WEIGHTS[2], WEIGHTS[1]])
        look.place = WordPlace("it", 1, 2, 1, {1: row}, {1: row[:, ::-1].copy()})
    if asked.head is not None:
        look.map = AttentionMap.from_weights(torch.from_numpy(WEIGHTS))
    if asked.cells:
        look.pooled = {place: WEIGHTS for place in look.heads}
    return look
