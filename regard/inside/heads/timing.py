"""Timing: which heads of a decoder's cross-attention align words with time.

Of a head with the weights a[i,j] of text token i for piece j of the sound (special tokens and
padding are left out, and nothing is shared out anew: what goes to padding counts for nothing)::

    order = mean over i < k of  P(J_k > J_i) − P(J_k < J_i)      J_i drawn by the weights of row i
    sharp = mean over i of  max over t of  sum of a[i,j], |j − t| <= REACH
    score = max(0, order) · sharp

P(J_k > J_i) is the sum of a[k,j] a[i,m] over all m < j. A head that looks at one moment for every
token is sharp and has no order; one that looks everywhere has neither.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.attention.rule import softmax
from regard.errors import DataError
from regard.inside.observe.layer import ObservedLayer
from regard.inside.observe.observe import observe
from regard.inside.observe.places import is_of
from regard.inside.soundmodel import SoundModel
from regard.pieces.heads import HeadPlace
from regard.pieces.pieces import Pieces
from regard.pieces.timing import HeadTiming, Timings

REACH = 2
"""Pieces on either side of a moment; five of 20 ms are a tenth of a second."""


def timing_of(weights: Tensor) -> list[HeadTiming]:
    """Of each head, from its weights (heads, tokens, pieces) of the text for the sound."""
    a = weights.double()
    before = a.cumsum(-1) - a  # before[i,j]: the weight of row i on what is earlier than j
    later = a @ before.mT  # later[k,i] = P(J_k > J_i)
    n = a.shape[1]
    pairs = torch.ones(n, n, dtype=torch.bool, device=a.device).tril(-1)
    order = (later - later.mT)[:, pairs].mean(-1)
    sums = torch.nn.functional.pad(a.cumsum(-1), (1, 0))
    middle = torch.arange(a.shape[2], device=a.device)
    last = (middle + REACH + 1).clamp(max=a.shape[2])
    sharp = (sums[..., last] - sums[..., (middle - REACH).clamp(min=0)]).amax(-1).mean(-1)
    sound = a.sum(-1).mean(-1)
    return [HeadTiming(*map(float, three)) for three in zip(order, sharp, sound, strict=True)]


def time_heads(model: SoundModel, heard: Pieces, target: Pieces) -> Timings:
    """Run ``model`` over the sound that it read and the text of it, and score its heads."""
    text = [i for i, special in enumerate(target.special) if not special]
    sound = [j for j, padding in enumerate(heard.padding) if not padding]
    if len(text) < 2:
        raise DataError(
            f"an order needs at least two tokens of text, there are {len(text)}: give a longer "
            "--target"
        )
    heads: dict[HeadPlace, HeadTiming] = {}

    def add(layer: ObservedLayer) -> None:
        item = layer.item(model.row) if is_of("cross", layer.kind, layer.part) else None
        if item is None:
            return
        query, rule, weights = item.query[:, text], item.rule, item.weights
        if weights is None and rule.mask is None and rule.bias is None:
            weights = softmax(rule.scores(query, item.key))
        elif weights is None:
            weights = softmax(rule.scores(item.query, item.key))[:, text]
        else:
            weights = weights[:, text]
        for head, found in enumerate(timing_of(weights[..., sound])):
            heads[layer.number, head] = found

    with observe(model.network, each=add, statistics=False):
        model.run(heard, target)
    return Timings(
        model.title,
        [target.labels[i] for i in text],
        model.seconds,
        len(sound),
        len(heard) - len(sound),
        (2 * REACH + 1) * model.step,
        heads,
        named_heads(model, list(heads)),
    )


def named_heads(model: SoundModel, known: Sequence[HeadPlace]) -> list[HeadPlace]:
    """The ``alignment_heads`` of the model's generation_config, those that there are."""
    config: Any = getattr(model.network, "generation_config", None)
    named = getattr(config, "alignment_heads", None) or []
    places = [tuple(each) for each in named if isinstance(each, list | tuple)]
    return [place for place in known if place in places]
