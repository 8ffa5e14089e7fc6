"""Proof: what Python makes of a few sentences, for the page to find again when it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import nn

from regard.models.translators.translation import translate_texts
from regard.pieces.tokenizer import BOS
from regard.trace import Array

if TYPE_CHECKING:
    from regard.live.carried import CarriedModel
    from regard.models.language import LanguageModel
    from regard.models.stack import RecurrentStack
    from regard.models.translators.base import Translator
    from regard.pieces.tokenizer import Tokenizer

NEXT = 10
"""Next words that a language model says with their probabilities."""


@dataclass(frozen=True)
class Proof:
    """A sentence and what a model makes of it."""

    text: str
    output: Any
    """The translation, or the likeliest next pieces with their probabilities."""
    weights: Array
    """(layers, heads, queries, keys)"""


def proofs(model: CarriedModel, network: nn.Module | None = None) -> list[Proof]:
    """What the model, or another ``network`` in its place, makes of its example sentences."""
    run = {"translate": translated, "lm": read}[model.task]
    return [run(network or model.network, model.tokenizer, text) for text in model.examples]


def translated(network: nn.Module, tokenizer: Tokenizer, text: str) -> Proof:
    """The translation, with the weights of every head that looks at the source."""
    translator = cast("Translator", network)
    config = translator.config
    places: list[tuple[int | None, int | None]] = [(None, None)]
    if config.model == "transformer":
        places = [(layer, head) for layer in range(config.layers) for head in range(config.heads)]
    found = [
        next(translate_texts(translator, tokenizer, [text], words=False, layer=layer, head=head))
        for layer, head in places
    ]
    weights = np.stack([one.alignment for one in found])
    if config.model == "encoder-decoder":  # it looks at nothing
        return Proof(text, found[0].text, weights[:0, np.newaxis])
    layers = max(1, config.layers)
    return Proof(text, found[0].text, weights.reshape(layers, -1, *weights.shape[-2:]))


def read(network: nn.Module, tokenizer: Tokenizer, text: str) -> Proof:
    """The likeliest pieces after the text, and what each piece of it attended to."""
    from regard.models.reading import prepared

    model = cast("LanguageModel", network)
    stack = cast("RecurrentStack", model.body)
    ids = torch.tensor([[BOS, *tokenizer.encode(prepared(tokenizer, text))]])
    with torch.no_grad():
        reading = stack.reader(model.embed(ids), need_weights=True)
        likely = model(ids)[0, -1].softmax(-1).topk(NEXT)
    assert reading.weights is not None
    pieces = tokenizer.pieces(likely.indices.tolist())
    output = [
        {"word": piece, "probability": p}
        for piece, p in zip(pieces, likely.values.tolist(), strict=True)
    ]
    return Proof(text, output, torch.stack(reading.weights, 1)[0].unsqueeze(1).numpy())


def difference(model: CarriedModel) -> tuple[float, int]:
    """How far rounding moved a weight at most, and how many outputs are no longer the same."""
    assert model.original is not None
    moved, other = 0.0, 0
    for ours, theirs in zip(proofs(model), proofs(model, model.original), strict=True):
        same = ours.weights.shape == theirs.weights.shape
        if same and ours.weights.size:
            moved = max(moved, float(np.abs(ours.weights - theirs.weights).max()))
        said = (ours.output, theirs.output) if model.task == "translate" else (same, True)
        other += said[0] != said[1]
    return moved, other
