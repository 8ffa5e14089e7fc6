"""Weights: the weight that stands beside each effect, by words.

Of a link: its weight; what a word gives is the mean over its tokens, what it gets their sum. Of a
head: the largest weight that the word in question gives to another content word; without such a
word, the mean of that over all content words that can see another.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from regard.inside.ablate.trial import AblationTrial
from regard.inside.ablate.variant import HeadAt, Variant
from regard.inside.observe.layer import ObservedLayer
from regard.inside.observe.observe import observe
from regard.pieces.pieces import Pieces
from regard.text import Word


class WordWeights:
    """The weights of every head of a trial's unchanged run, by words."""

    def __init__(self, trial: AblationTrial) -> None:
        self.trial = trial
        self.by_head: dict[HeadAt, Tensor] = {}
        """(queries, keys), words of each."""
        if trial.has_heads:
            with torch.inference_mode(), observe(trial.network, each=self._keep):
                trial.run(1)

    def _keep(self, layer: ObservedLayer) -> None:
        part = _part(layer, self.trial.parts)
        if part is None:
            return
        queries, keys = self._sides(part)
        weights = torch.stack([layer.map(h).dense() for h in range(layer.query.shape[1])])
        rows, columns = _mean_of(queries), _sum_of(keys)
        device = weights.device
        words = rows.to(device) @ weights.float() @ columns.to(device)
        for head, one in enumerate(words):
            self.by_head[HeadAt(part, layer.number, head)] = one.cpu()

    def _sides(self, part: str) -> tuple[Pieces, Pieces]:
        read, written = self.trial.pieces, self.trial.written
        return {"decoder": (written, written), "cross": (written, read)}.get(part, (read, read))

    def of(self, variant: Variant, word: Word | None) -> float | None:
        """That of a variant of one head; of several their mean; None where there is none."""
        if not self.by_head:
            return None
        heads = variant.heads or [h for h in self.by_head if h.part in variant.parts]
        if variant.query is not None and variant.key is not None:
            found = [self._link(head, variant.query, variant.key) for head in heads]
        else:
            found = [self._largest(head, word) for head in heads]
        there = [one for one in found if one is not None]
        return sum(there) / len(there) if there else None

    def _link(self, head: HeadAt, query: Word, key: Word) -> float | None:
        queries, keys = self._sides(head.part)
        return float(self.by_head[head][_number(queries, query), _number(keys, key)])

    def _largest(self, head: HeadAt, word: Word | None) -> float | None:
        queries, keys = self._sides(head.part)
        others = torch.tensor(_content(keys)).expand(len(queries.words), -1).clone()
        if head.part != "cross":
            others.fill_diagonal_(False)
        if head.part in ("decoder",) or _looks_back(self.by_head[head]):
            others = others.tril()
        most = self.by_head[head].masked_fill(~others, 0).amax(-1)
        rows = torch.tensor(_content(queries)) & others.any(-1)
        if word is not None:
            rows = torch.zeros_like(rows)
            rows[_number(queries, word)] = True
        return float(most[rows].mean()) if bool(rows.any()) else None


def _part(layer: ObservedLayer, parts: tuple[str, ...]) -> str | None:
    if layer.kind == "cross":
        return "cross" if "cross" in parts else None
    if "self" in parts:
        return "self"
    return layer.part if layer.part in parts else None


def _looks_back(weights: Tensor) -> bool:
    """Whether nothing is seen that comes later."""
    return weights.shape[0] == weights.shape[1] and not bool(weights.triu(1).any())


def content_words(pieces: Pieces) -> list[Word]:
    """Words that say something, in their order."""
    return [w for w, says in zip(pieces.words, _content(pieces), strict=True) if says]


def _content(pieces: Pieces) -> list[bool]:
    """Words that say something: neither special tokens nor punctuation."""
    marks = [a or b for a, b in zip(pieces.special, pieces.separators, strict=True)]
    return [not mark for mark in pieces.by_word(marks)]


def _number(pieces: Pieces, word: Word) -> int:
    """Which word of all it is, or the one that a named piece is in."""
    places: Callable[[Word], bool] = lambda w: w.start <= word.start < w.stop  # noqa: E731
    return next(i for i, one in enumerate(pieces.words) if places(one))


def _mean_of(pieces: Pieces) -> Tensor:
    """(words, tokens): the mean over a word's tokens."""
    made = _sum_of(pieces).t().clone()
    return made / made.sum(-1, keepdim=True)


def _sum_of(pieces: Pieces) -> Tensor:
    made = torch.zeros(len(pieces), len(pieces.words))
    for number, word in enumerate(pieces.words):
        made[word.start : word.stop, number] = 1
    return made
