"""Reader: one step of a network that reads, and looks at the tape of what it has read."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import nn

from regard.inside.anatomy.linear import numbers
from regard.inside.explain.recurrent import (
    HeardCall,
    Pairs,
    RecurrentModel,
    StepTexts,
    hearing,
)
from regard.inside.explain.steptrace import Slots, StepScopes
from regard.inside.textmodel import TextModel
from regard.recurrent import SelfAttentiveRNN
from regard.recurrent.reader import Reader
from regard.trace import Step, Trace

BEFORE = {
    "recalled state": ("recalled before", "h~_{t-1}", "What was recalled at the word before."),
    "context": ("context before", "c_{t-1}", "What was taken from the tape at the word before."),
}
"""What a step takes over from the step before, by the note in which it was made."""


class ReaderModel(RecurrentModel):
    """A language model, a classifier, or the encoder of a translator, that reads with a tape."""

    def __init__(self, model: TextModel, part: str = "") -> None:
        super().__init__(model)
        self.part = part
        reader = self._reader(model.network)
        self.layers = reader.num_layers
        self.with_itself = isinstance(reader, SelfAttentiveRNN)
        self.summary = "context" if self.with_itself else "recalled state"
        self.same = "states and what was taken from the tape"
        if reader.has_cells:
            self.same = "states, cells and what was taken from the tapes"

    @property
    def scopes(self) -> StepScopes:
        layer = "encoder/layer {layer}" if self.part else "layer {layer}"
        return StepScopes(f"{layer}/step {{number}}", 1, f"{layer}/attention")

    def read(self, text: str) -> StepTexts:
        return StepTexts(self.model.read(text))

    def modules(self, network: Any) -> Sequence[nn.Module]:
        return self._reader(network).parts()

    def slots(self, texts: StepTexts, token: int) -> Slots:
        return Slots(texts.read.labels[: token + self.with_itself])

    def given(self, whole: Trace, heard: list[HeardCall], layer: int, token: int) -> list[Step]:
        meaning = "What the layer below says of it." if layer else "The vector of the word read."
        x = numbers(heard[layer].given[0][token, 0])
        name, formula, said = BEFORE[self.summary]
        before = np.zeros(self._reader(self.model.network).hidden_size)
        if token:
            path = f"{self.scopes.of_step(layer, token - 1)}/{self.summary}"
            before = whole.value(path).reshape(-1)
        return [
            Step("word", x, axes=("width",), formula="x_t", meaning=meaning),
            Step(name, before, axes=("hidden",), formula=formula, meaning=said),
        ]

    def compared(self, whole: Trace, texts: StepTexts, layer: int, token: int) -> Pairs:
        """The tapes of the words up to this one, and what it took from them."""
        with hearing([self._reader(self.model.network)]) as heard:
            self.model.run(texts.read.beginning(token + 1))
        own = heard[0].made.state
        pairs = []
        for name, tape in (("state", own.hidden), ("cell", own.cells)):
            if tape is not None:
                kept = range(token + 1 - tape.shape[2], token + 1)
                made = [whole.value(f"{self.scopes.of_step(layer, i)}/{name}")[0] for i in kept]
                pairs.append((np.stack(made), numbers(tape[layer, 0])))
        took = whole.value(f"{self.scopes.of_step(layer, token)}/{self.summary}").reshape(-1)
        return [*pairs, (took, numbers(own.summary[layer, 0]))]

    def _reader(self, network: Any) -> Reader:
        reader = network.encoder if self.part else network.body.reader
        assert isinstance(reader, Reader)
        return reader
