"""Proof: what Python makes of a few sentences, for the page to find again when it is opened."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import nn

from regard.models.translators.translation import translate_texts
from regard.pieces.tokenizer import BOS
from regard.record import record
from regard.trace import Array

if TYPE_CHECKING:
    from regard.live.carried import CarriedModel
    from regard.models.language import LanguageModel
    from regard.models.stack import RecurrentStack
    from regard.models.translators.base import Translator
    from regard.models.translators.translation import Translation
    from regard.pieces.tokenizer import Tokenizer

NEXT = 10
"""Next words that a language model says with their probabilities."""


@dataclass(frozen=True)
class Expected:
    """A sentence and what a model makes of it."""

    text: str
    output: Any
    """The translation, or the likeliest next pieces with their probabilities."""
    weights: Array
    """(layers, heads, queries, keys)"""


def proofs(model: CarriedModel, network: nn.Module | None = None) -> list[Expected]:
    """What the model, or another ``network`` in its place, makes of its example sentences."""
    run = {"translate": translated, "lm": read}[model.task]
    return [run(network or model.network, model.tokenizer, text) for text in model.examples]


def translated(network: nn.Module, tokenizer: Tokenizer, text: str) -> Expected:
    """The translation, with the weights of every head that looks at the source."""
    translator = cast("Translator", network)
    found = next(translate_texts(translator, tokenizer, [text], words=False))
    design = translator.config.model
    if design == "encoder-decoder":  # it looks at nothing
        return Expected(text, found.text, np.zeros((0, 1, *found.alignment.shape), np.float32))
    if design == "transformer":
        return Expected(text, found.text, _every_head(translator, found, tokenizer))
    return Expected(text, found.text, found.alignment[np.newaxis, np.newaxis])


def _every_head(translator: Translator, found: Translation, tokenizer: Tokenizer) -> Array:
    """Where each head of each layer looked as the translation was written."""
    vocabulary = tokenizer.tokenizer.get_vocab()
    written = [BOS, *(vocabulary[piece] for piece in found.target)]
    source = torch.tensor([found.read.ids])
    with torch.no_grad(), record(only=("weights",)) as trace:
        translator(source, torch.tensor([len(found.read)]), torch.tensor([written]))
    layers = [step.value[0] for step in trace if "cross-attention" in step.scope]
    return np.stack(layers)[:, :, :-1]  # the last row chooses the end


def read(network: nn.Module, tokenizer: Tokenizer, text: str) -> Expected:
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
    return Expected(text, output, torch.stack(reading.weights, 1)[0].unsqueeze(1).numpy())


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
