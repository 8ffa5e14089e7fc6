"""Writer: one step of a recurrent decoder, which looks at the source before each word it writes."""

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
from regard.inside.explain.steptrace import SOURCE, Slots, StepScopes
from regard.inside.textmodel import TextModel
from regard.models.translators.bahdanau import Bahdanau
from regard.trace import Step, Trace


class WriterModel(RecurrentModel):
    """A translator whose decoder is Bahdanau's, or an LSTMN with two attentions."""

    part = "cross"
    same = "states, and what was taken from the source, at every step"

    def __init__(self, model: TextModel, target: str | None = None) -> None:
        """``target`` is what the decoder reads, else what it writes by itself."""
        super().__init__(model)
        self.target = target
        self.gated = isinstance(model.network, Bahdanau)

    @property
    def scopes(self) -> StepScopes:
        step = "step {number}" if self.gated else "decoder/step {number}"
        return StepScopes(step, 0, "alignment")

    def read(self, text: str) -> StepTexts:
        read = self.model.read(text)
        return StepTexts(read, self.model.target(read, self.target))

    def modules(self, network: Any) -> Sequence[nn.Module]:
        return [network.readout]

    def slots(self, texts: StepTexts, token: int) -> Slots:
        """An LSTMN's own tape begins with the source's last slot."""
        assert texts.target is not None
        own = [f"{texts.read.labels[-1]} (source)", *texts.target.labels[:token]]
        return Slots(own, texts.read.labels)

    def given(self, whole: Trace, heard: list[HeardCall], layer: int, token: int) -> list[Step]:
        state, word, _ = (numbers(x[token]) for x in heard[0].given)
        said = "The vector of the word written before."
        if not self.gated:
            return [Step("word", word, axes=("width",), formula="x_t = E y_{t-1}", meaning=said)]
        before = "What the decoder remembers before this word: what asks."
        return [
            Step("word", word, axes=("width",), formula="x_t = E y_{i-1}", meaning=said),
            Step("state before", state, axes=("hidden",), formula="s_{i-1}", meaning=before),
        ]

    def compared(self, whole: Trace, texts: StepTexts, layer: int, token: int) -> Pairs:
        """What the readout is given at every step."""
        assert texts.target is not None
        with hearing([self.model.network.readout]) as heard:  # type: ignore[list-item]
            self.model.run(texts.read, texts.target)
        states, _, found = (numbers(x) for x in heard[0].given)
        inside = "" if self.gated else f"/{SOURCE}"
        scopes = [self.scopes.of_step(0, i) for i in range(len(texts.target))]
        made = np.stack([whole.value(f"{scope}/state")[0] for scope in scopes])
        took = np.stack([whole.value(f"{scope}{inside}/context")[0, 0] for scope in scopes])
        if self.gated:  # whose readout is given the state before
            made, states = made[:-1], states[1:]
        return [(made, states), (took[:, : found.shape[1]], found)]
