"""Proof: what Python makes of a few sentences, for the page to find again when it is opened."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import torch
from torch import Tensor, nn

from regard.models.translators.translation import translate_texts
from regard.pieces.text import read_text
from regard.pieces.tokenizer import BOS
from regard.record import record
from regard.trace import Array

if TYPE_CHECKING:
    from regard.live.carried import CarriedModel
    from regard.live.examples import ExampleImage
    from regard.models.bert.encoder import BertEncoder
    from regard.models.images import ImageClassifier
    from regard.models.language import LanguageModel
    from regard.models.stack import RecurrentStack
    from regard.models.translators.base import Translator
    from regard.models.translators.translation import Translation
    from regard.pieces.tokenizer import Tokenizer

NEXT = 10
"""Next words that a language model says with their probabilities."""


@dataclass(frozen=True)
class Expected:
    """A sentence or an image, and what a model makes of it."""

    given: str | ExampleImage
    output: Any
    """The translation; the likeliest next pieces, or the labels, with their probabilities; or the
    vector of the sentence."""
    weights: Array
    """(layers, heads, queries, keys)"""
    own: tuple[Array, ...] = ()
    """Of a Transformer that translates, the same of its encoder and of its decoder: how each text
    looked at itself. Of an image, of what decided."""


def proofs(model: CarriedModel, network: nn.Module | None = None) -> list[Expected]:
    """What the model, or another ``network`` in its place, makes of its examples."""
    return [
        RUN[model.task](network or model.network, model.tokenizer, given)
        for given in model.examples
    ]


def translated(network: nn.Module, tokenizer: Tokenizer, text: str) -> Expected:
    """The translation, with the weights of every head that looks at the source."""
    translator = cast("Translator", network)
    # Recorded, the modules compute: the kernel's search rounds what meets weights of 8 bits.
    with record(only=()):
        found = next(translate_texts(translator, tokenizer, [text], words=False))
    design = translator.config.model
    if design == "encoder-decoder":  # it looks at nothing
        return Expected(text, found.text, np.zeros((0, 1, *found.alignment.shape), np.float32))
    if design == "transformer":
        return Expected(text, found.text, *_every_head(translator, found, tokenizer))
    return Expected(text, found.text, found.alignment[np.newaxis, np.newaxis])


def _every_head(
    translator: Translator, found: Translation, tokenizer: Tokenizer
) -> tuple[Array, tuple[Array, Array]]:
    """Where each head of each layer looked as the translation was written, and within a text."""
    vocabulary = tokenizer.tokenizer.get_vocab()
    written = [BOS, *(vocabulary[piece] for piece in found.target)]
    source = torch.tensor([found.read.ids])
    with torch.no_grad(), record(only=("weights",)) as trace:
        translator(source, torch.tensor([len(found.read)]), torch.tensor([written]))
    parts: dict[str, list[Array]] = {}
    for step in trace:
        name = "cross" if "cross-attention" in step.scope else step.scope.split()[0]
        parts.setdefault(name, []).append(step.value[0])
    cross, encoder, decoder = (np.stack(parts[name]) for name in ("cross", "encoder", "decoder"))
    return cross[:, :, :-1], (encoder, decoder[:, :, :-1, :-1])  # the last row chooses the end


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
    output = _said(tokenizer.pieces(likely.indices.tolist()), likely.values)
    return Expected(text, output, torch.stack(reading.weights, 1)[0].unsqueeze(1).numpy())


def understood(network: nn.Module, tokenizer: Any, text: str) -> Expected:
    """The sentence's vector, the mean of its tokens' of length 1, and what every head does."""
    pieces = read_text(tokenizer, text)
    with torch.no_grad():
        found = cast("BertEncoder", network)(torch.tensor(pieces.ids), need_weights=True)
    mean = found.last.mean(0)
    assert found.weights is not None
    return Expected(text, (mean / mean.norm()).tolist(), torch.stack(found.weights).numpy())


def judged(network: nn.Module, _: None, image: ExampleImage) -> Expected:
    """Every label with its probability, and what each patch, then the decision, looked at."""
    model = cast("ImageClassifier", network)
    pixels = torch.tensor(image.pixels).permute(2, 0, 1).unsqueeze(0) / 255
    with torch.no_grad(), record(only=("weights",)) as trace:
        decision = model(pixels)
    order = decision.logits[0].softmax(-1).sort(descending=True)
    output = _said([model.config.labels[i] for i in order.indices.tolist()], order.values)
    layers = [step.value[0] for step in trace if "readout" not in step.scope]
    decided = decision.weights[0].numpy().reshape(1, 1, 1, -1)
    return Expected(image, output, np.stack(layers), (decided,))


def _said(words: Sequence[str], probabilities: Tensor) -> list[dict[str, Any]]:
    pairs = zip(words, probabilities.tolist(), strict=True)
    return [{"word": word, "probability": p} for word, p in pairs]


RUN: dict[str, Callable[..., Expected]] = {
    "translate": translated,
    "lm": read,
    "sentence": understood,
    "images": judged,
}
"""By task, what a network, its tokenizer and something given make."""


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
