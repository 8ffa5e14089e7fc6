"""Model: one head of a real model as a worked example, and the proof that its numbers are real.

Everything is computed in float64 with every step recorded. The proof runs the model as it always
runs, in float32, with the fused kernel and nothing recorded, and compares.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regard.errors import ModelError, RegardError, UnknownWordError
from regard.inside.explain.link import Choice, choose
from regard.inside.find import find
from regard.inside.observe.observe import observe
from regard.inside.pinned import PINNED
from regard.models.bert.encoder import BertEncoder
from regard.models.bert.file import load_bert
from regard.models.bert.text import BertReading, BertText
from regard.record import record
from regard.text import find_token
from regard.trace import Array, Trace

EMBEDDING = ("word_vectors", "position_vectors", "type_vectors", "embedding")


@dataclass(frozen=True)
class Proof:
    """How far the explained numbers are from those of the model's own forward pass."""

    numbers: int
    """How many were compared: queries, keys, weights and output of the layer's heads, and what
    the layer hands on."""
    difference: float
    """The largest difference."""


@dataclass(frozen=True)
class Explained:
    """One head of one layer, for one word of one text."""

    model: str
    shape: tuple[int, int]
    """Layers, and heads of each."""
    reading: BertReading
    layer: int
    head: int
    word: int
    to: int
    """The other word of the link."""
    choice: Choice | None
    """How layer and head were chosen, if they were not given."""
    trace: Trace
    proof: Proof

    @property
    def weights(self) -> Array:
        """What the word gives to each token, in this head."""
        row: Array = self.trace.value("weights")[self.head, self.word]
        return row

    @property
    def scaled(self) -> Array:
        """The scores that these weights are made of."""
        row: Array = self.trace.value("scaled")[self.head, self.word]
        return row


class Model:
    """A BERT model on this machine, ready to be explained."""

    def __init__(self, name: str) -> None:
        """``name``: an alias, a folder, or a name on the hub."""
        if name in PINNED and any(file.name.endswith(".gguf") for file in PINNED[name].files):
            raise ModelError(f"regard explain computes BERT encoders, and {name!r} is none")
        found = find(name)
        if found.gguf is not None:
            raise ModelError(f"regard explain computes BERT encoders; {name!r} is a GGUF file")
        self.name = name if name in PINNED else found.folder.name
        self.text = BertText.load(found.folder)
        self.single = load_bert(found.folder)
        self.exact = load_bert(found.folder).double()
        self.shape = self.single.config.layers, self.single.config.heads

    @torch.no_grad()
    def explain(
        self,
        text: str,
        word: str | None = None,
        to: str | None = None,
        layer: int | None = None,
        head: int | None = None,
    ) -> Explained:
        """The steps of one head for ``word``; what is not given is chosen by its strongest link."""
        for name, number, count in (
            ("layer", layer, self.shape[0]),
            ("head", head, self.shape[1]),
        ):
            if number is not None and not 0 <= number < count:
                raise RegardError(
                    f"{self.name} has {count} {name}s, counted from 0: {name} must be from 0 to "
                    f"{count - 1}, got {number}"
                )
        reading = self.text.read(text)
        place = None if word is None else place_of(reading, word)
        target = None if to is None else place_of(reading, to)
        choice = choose(
            self._weights(reading),
            reading.tokens,
            reading.special,
            word=place,
            to=target,
            layer=layer,
            head=head,
        )
        best = choice.best
        trace, proof = self._computed(reading, best.layer, best.head)
        given = layer is not None and head is not None
        return Explained(
            *(self.name, self.shape, reading, best.layer, best.head, best.word, best.to),
            *(None if given else choice, trace, proof),
        )

    @torch.no_grad()
    def whole(self, reading: BertReading) -> Trace:
        """Every step of every layer."""
        with record(self.name, reading.tokens) as trace:
            self.exact(reading.ids)
        return trace

    def _weights(self, reading: BertReading) -> Array:
        """(layers, heads, n, n)"""
        weights = self.exact(reading.ids, need_weights=True).weights
        found: Array = torch.stack(weights).numpy()
        return found

    def _computed(self, reading: BertReading, layer: int, head: int) -> tuple[Trace, Proof]:
        title = f"{self.name} layer {layer} head {head}"
        with record(title, reading.tokens) as trace:
            self.exact(reading.ids)
        inside = f"layer {layer}"
        trace.steps = [
            step for step in trace if step.name in EMBEDDING or inside in step.scope.split("/")
        ]
        return trace, proved(trace, forward_pass(self.single, reading.ids, layer))


def proved(trace: Trace, own: dict[str, Tensor]) -> Proof:
    """Compare the steps of ``trace`` with what the model computed by itself."""
    apart = [float(np.abs(trace.value(name) - value.numpy()).max()) for name, value in own.items()]
    return Proof(sum(value.numel() for value in own.values()), max(apart))


def forward_pass(model: BertEncoder, ids: Tensor, layer: int) -> dict[str, Tensor]:
    """What the model computes by itself, in one layer: fused attention, nothing recorded.

    Queries and keys are those that :func:`regard.observe` sees, the weights those of the maps it
    makes of them: code that the explanation does not use.
    """
    outputs: list[Tensor] = []
    hook = model.attention(layer).register_forward_hook(
        lambda *call: outputs.append(call[-1].context[0])
    )
    try:
        with observe(model, layers=[layer]) as observation:
            encoded = model(ids[None])
    finally:
        hook.remove()
    seen = observation.layer(layer)
    return {
        "queries": seen.query[0],
        "keys": seen.key[0],
        "weights": torch.stack([seen.map(head).dense() for head in range(seen.heads)]),
        "output": outputs[0],
        "hidden": encoded.hidden[layer + 1][0],
    }


def place_of(reading: BertReading, word: str) -> int:
    """The token that is ``word``; a word that was cut into several is an error that names them."""
    try:
        return find_token(reading.tokens, word)[0]
    except UnknownWordError:
        pieces = [reading.tokens[i] for i in reading.pieces(word)]
        if len(pieces) < 2:
            raise
        raise UnknownWordError(
            f"this model reads {word!r} as {len(pieces)} tokens, {' '.join(pieces)}: "
            "name one of them"
        ) from None
