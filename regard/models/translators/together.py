"""Together: several translators propose, and all of them judge every proposal.

    score(y) = 1/M sum_m  log p_m(y | x) / |y|_m^α

Where models differ in design they differ in their mistakes: what one of them says by accident, the
others find unlikely. Texts are judged, not tokens, so that each model may have a vocabulary of its
own.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import torch

from regard.models.translators.base import Translator
from regard.models.translators.beam import evaluating
from regard.models.translators.translation import Translation, n_best_texts, padded_rows
from regard.pieces.pieces import Pieces
from regard.pieces.tokenizer import BOS, EOS, Tokenizer

Speaker = tuple[Translator, Tokenizer]

AT_ONCE = 4096
"""Tokens that are judged at a time: each has a score for every word of the vocabulary."""


class Judged(NamedTuple):
    """What was proposed for a sentence, and what the models say of it."""

    text: str
    scores: tuple[float, ...]
    """log p / length^length_penalty by each model, in their order."""
    read: Pieces
    """The sentence as the first model read it, its end mark included."""

    @property
    def score(self) -> float:
        return sum(self.scores) / len(self.scores)


def judged_texts(
    speakers: Sequence[Speaker],
    texts: Sequence[str],
    *,
    best: int = 1,
    beam: int = 5,
    length_penalty: float = 1.0,
    batch: int = 64,
) -> Iterator[list[Judged]]:
    """Of each text the ``best`` of what the models propose, ``beam`` translations each.

    Of equal scores the one that an earlier model proposed comes first. What some model holds to be
    impossible (a target longer than its source, word by word) is left out, unless that is all.
    """
    found = zip(
        *(
            n_best_texts(
                *speaker, texts, best=beam, beam=beam, length_penalty=length_penalty, batch=batch
            )
            for speaker in speakers
        ),
        strict=True,
    )
    for start in range(0, len(texts), batch):
        several = list(islice(found, batch))
        proposals = [_distinct(each) for each in several]
        sources = texts[start : start + batch]
        asked = [(text, one) for text, each in zip(sources, proposals, strict=True) for one in each]
        scores = zip(*(judge(*speaker, asked, length_penalty) for speaker in speakers), strict=True)
        for each, first in zip(proposals, several, strict=True):
            read = first[0][0].read
            judged = [Judged(text, next(scores), read) for text in each]
            possible = [one for one in judged if one.score > -math.inf] or judged[:1]
            yield sorted(possible, key=lambda one: -one.score)[:best]


def _distinct(proposed: Sequence[Sequence[Translation]]) -> list[str]:
    """The texts of one sentence's proposals, each once, in their order."""
    return list(dict.fromkeys(one.text for own in proposed for one in own))


@torch.no_grad()
def judge(
    model: Translator,
    tokens: Tokenizer,
    pairs: Sequence[tuple[str, str]],
    length_penalty: float = 1.0,
) -> list[float]:
    """log p(target | source) / length^length_penalty of each pair; 0 of nothing for nothing."""
    if not pairs:
        return []
    sources, targets = (tokens.encode_all(side) for side in zip(*pairs, strict=True))
    sizes = [max(len(s), len(t)) + 1 for s, t in zip(sources, targets, strict=True)]
    scores = [0.0] * len(pairs)
    for rows in _batches([i for i, source in enumerate(sources) if source], sizes):
        source, lengths = padded_rows(model, [[*sources[i], EOS] for i in rows])
        target, ends = padded_rows(model, [[BOS, *targets[i], EOS] for i in rows])
        with evaluating(model):
            logits = model(source, lengths, target[:, :-1])
        chosen = logits.log_softmax(-1).gather(-1, target[:, 1:, None]).squeeze(-1)
        there = torch.arange(chosen.shape[1], device=chosen.device) < (ends - 1).unsqueeze(-1)
        found = chosen.double().masked_fill(~there, 0).sum(-1) / (ends - 1) ** length_penalty
        for i, score in zip(rows, found.tolist(), strict=True):
            scores[i] = score
    return scores


def _batches(rows: list[int], sizes: Sequence[int]) -> Iterator[list[int]]:
    """The rows from short to long, as many at a time as fill AT_ONCE tokens."""
    batch: list[int] = []
    for row in sorted(rows, key=lambda row: sizes[row]):
        if batch and (len(batch) + 1) * sizes[row] > AT_ONCE:
            yield batch
            batch = []
        batch.append(row)
    if batch:
        yield batch
