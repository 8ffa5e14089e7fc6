"""Candidates: the likeliest continuations of a beam, without sorting the vocabulary."""

from __future__ import annotations

import math

import torch
from torch import Tensor

from regard.attention.kernel.choice import choose
from regard.errors import TrainingError
from regard.pieces.tokenizer import BOS, PAD

NEVER = torch.tensor([PAD, BOS])
"""Tokens that are never said."""
BLOCK = 32
"""Tokens in a block; the best tokens are looked for only in the blocks with the best maxima."""


def best_tokens(logits: Tensor, scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The ``count`` best of scores[s, b] + log softmax(logits[s, b])[v] of each sentence s.

    ``logits`` (sentences · beams, V), changed in place: PAD and BOS are never said. ``scores``
    (sentences, beams) float64. Returns the totals (sentences, count), best first, and their
    places b · V + v.
    """
    if (chosen := choose(logits, scores, count, NEVER)) is not None:
        return chosen
    sentences, beams = scores.shape
    size = logits.shape[-1]
    norms = log_norms(logits)
    silence(logits)
    offsets = scores - norms.view(sentences, beams).double()
    blocks = size // BLOCK
    if count > blocks or size < 16 * BLOCK:
        return _top((logits.view(sentences, beams, size) + offsets.unsqueeze(-1)).flatten(1), count)
    places = _places(logits, offsets, count)
    found = logits.view(sentences, -1).gather(1, places) + offsets.gather(1, places // size)
    totals, index = _top(found, count)
    return totals, places.gather(1, index)


def log_norms(logits: Tensor) -> Tensor:
    """log sum_v exp(logits[…, v]): what is taken from a token's logit to make it its log p."""
    norms = logits.logsumexp(-1)
    if not bool(norms.isfinite().all()):
        raise TrainingError(
            "a model's scores must be numbers, at least one of them finite; got "
            f"{_got(norms)}: its weights are damaged or its training diverged, go back to an "
            "earlier checkpoint"
        )
    return norms


def silence(logits: Tensor) -> None:
    """PAD and BOS are never said: changes ``logits`` (…, V) in place."""
    logits[..., PAD] = -math.inf
    logits[..., BOS] = -math.inf


def _places(logits: Tensor, offsets: Tensor, count: int) -> Tensor:
    """Places b · V + v (sentences, …) of all tokens that can be among the ``count`` best.

    At most ``count`` blocks hold one of them: those with the greatest maxima. The tokens behind
    the last whole block are always among those returned.
    """
    sentences, beams = offsets.shape
    size = logits.shape[-1]
    whole = size // BLOCK * BLOCK
    maxima: Tensor = logits[:, :whole].unflatten(-1, (-1, BLOCK)).amax(-1)
    maxima = maxima.view(sentences, beams, -1) + offsets.unsqueeze(-1)
    chosen = maxima.flatten(1).topk(count).indices
    beam, block = chosen // maxima.shape[-1], chosen % maxima.shape[-1]
    starts = (beam * size + block * BLOCK).unsqueeze(-1)
    places: Tensor = (starts + torch.arange(BLOCK, device=starts.device)).flatten(1)
    if whole == size:
        return places
    tails = torch.arange(beams, device=starts.device).unsqueeze(-1) * size
    tails = (tails + torch.arange(whole, size, device=starts.device)).flatten()
    return torch.cat((places, tails.expand(sentences, -1)), 1)


def _top(totals: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """The ``count`` greatest, best first; of one alone, equals go to the first place."""
    if count == 1:
        index = totals.argmax(-1, keepdim=True)
        return totals.gather(1, index), index
    values, index = totals.topk(count)
    return values, index


def _got(norms: Tensor) -> str:
    if bool(norms.isnan().any()):
        return "NaN (not a number)"
    return "+inf" if bool((norms == math.inf).any()) else "-inf for every token"
