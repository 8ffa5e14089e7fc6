"""Writer: one step of a recurrent decoder, which looks at the source before each word it writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from torch import nn

from regard.inside.anatomy.linear import numbers
from regard.inside.explain.recurrent import (
    Pairs,
    RecordedSteps,
    RecurrentModel,
    StepTexts,
    hearing,
)
from regard.inside.explain.steptrace import SOURCE, Slots, StepScopes
from regard.inside.textmodel import TextModel
from regard.models.translators.bahdanau import Bahdanau
from regard.trace import Step

READ = ("h_t", "E y_{t-1}", "g~_t")
"""What an LSTMN's readout is given, as formulas call it."""


class WriterModel(RecurrentModel):
    """A translator whose decoder is Bahdanau's, or an LSTMN with two attentions."""

    part = "cross"
    symbol = "t"
    same = "states, what was taken from the source, and scores of all next words, at every step"

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

    def followed(self, texts: StepTexts) -> int:
        return 0

    def given(self, recorded: RecordedSteps, layer: int, token: int) -> list[Step]:
        state, word, _ = (numbers(x[token]) for x in recorded.heard[0].given)
        said = "The vector of the word written before."
        if not self.gated:
            return [Step("word", word, axes=("width",), formula="x_t = E y_{t-1}", meaning=said)]
        before = "What the decoder remembers before this word: what asks."
        return [
            Step("word", word, axes=("width",), formula="x_t = E y_{i-1}", meaning=said),
            Step("state before", state, axes=("hidden",), formula="s_{i-1}", meaning=before),
        ]

    def ending(self, recorded: RecordedSteps, texts: StepTexts, token: int) -> list[Step]:
        made = numbers(recorded.heard[0].made[token])
        state, read, took = ("s_{i-1}", "E y_{i-1}", "c_i") if self.gated else READ
        formula = f"t = max of pairs of U_o {state} + V_o {read} + C_o {took} + b_o"
        meaning = "What the state, the word before and what was taken from the source say together."
        if self.gated:
            meaning += " The new state is for the next word."
        return [Step("readout", made, axes=("width",), formula=formula, meaning=meaning)]

    def compared(
        self, recorded: RecordedSteps, texts: StepTexts, layers: Sequence[int], token: int
    ) -> Pairs:
        """What the readout is given at every step, and the scores of all words."""
        whole = recorded.trace
        assert texts.target is not None
        with hearing([self.model.network.readout]) as heard:  # type: ignore[list-item]
            output = self.model.run(texts.read, texts.target)
        states, _, found = (numbers(x) for x in heard[0].given)
        inside = "" if self.gated else f"/{SOURCE}"
        scopes = [self.scopes.of_step(0, i) for i in range(len(texts.target))]
        made = np.stack([whole.value(f"{scope}/state")[0] for scope in scopes])
        took = np.stack([whole.value(f"{scope}{inside}/context")[0, 0] for scope in scopes])
        if self.gated:  # whose readout is given the state before
            made, states = made[:-1], states[1:]
        scores = numbers(recorded.output[0]), numbers(output[0])
        return [(made, states), (took[:, : found.shape[1]], found), scores]
