"""Reader: one step of a network that reads, and looks at the tape of what it has read."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
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
from regard.inside.explain.steptrace import Slots, StepScopes, step_trace
from regard.inside.textmodel import TextModel
from regard.models.classifier import Classifier
from regard.recurrent import SelfAttentiveRNN
from regard.recurrent.reader import Reader
from regard.trace import Step

BEFORE = {
    "recalled state": ("recalled before", "h~_{t-1}", "What was recalled at the word before."),
    "context": ("context before", "c_{t-1}", "What was taken from the tape at the word before."),
}
"""What a step takes over from the step before, by the note in which it was made."""
READOUT = {
    "attention": ("r = sum_j a_j h_j", "The states of all words, mixed: what is decided from."),
    "mean": ("r = sum_j h_j / n", "The mean of the states of all words: what is decided from."),
    "last": ("r = h_n", "The state of the last word: what is decided from."),
}
"""What a classifier decides from, by its readout."""


class ReaderModel(RecurrentModel):
    """A language model, a classifier, or the encoder of a translator, that reads with a tape."""

    def __init__(self, model: TextModel, part: str = "") -> None:
        super().__init__(model)
        self.part = part
        reader = self._reader(model.network)
        self.layers = reader.num_layers
        self.with_itself = isinstance(reader, SelfAttentiveRNN)
        self.summary = "context" if self.with_itself else "recalled state"
        self.decides = isinstance(model.network, Classifier)
        self.symbol = "" if part else "r" if self.decides else "r_t"
        made = "states, cells" if reader.has_cells else "states"
        tape = "tapes" if reader.has_cells else "tape"
        said = {"": "", "r": ", scores of all labels", "r_t": ", scores of all next words"}
        self.same = f"{made}{said[self.symbol]} and what was taken from the {tape}"

    @property
    def scopes(self) -> StepScopes:
        layer = "encoder/layer {layer}" if self.part else "layer {layer}"
        return StepScopes(f"{layer}/step {{number}}", 1, f"{layer}/attention")

    def read(self, text: str) -> StepTexts:
        return StepTexts(self.model.read(text))

    def modules(self, network: Any) -> Sequence[nn.Module]:
        behind = network.output if self.decides else getattr(network, "readout", None)
        layers = self._reader(network).parts()
        return layers if self.part or behind is None else [*layers, behind]

    def followed(self, texts: StepTexts) -> int:
        return len(texts.read) - 1

    def slots(self, texts: StepTexts, token: int) -> Slots:
        return Slots(texts.read.labels[: token + self.with_itself])

    def given(self, recorded: RecordedSteps, layer: int, token: int) -> list[Step]:
        meaning = "What the layer below says of it." if layer else "The vector of the word read."
        x = numbers(recorded.heard[layer].given[0][token, 0])
        name, formula, said = BEFORE[self.summary]
        before = np.zeros(self._reader(self.model.network).hidden_size)
        if token:
            path = f"{self.scopes.of_step(layer, token - 1)}/{self.summary}"
            before = recorded.trace.value(path).reshape(-1)
        return [
            Step("word", x, axes=("width",), formula="x_t", meaning=meaning),
            Step(name, before, axes=("hidden",), formula=formula, meaning=said),
        ]

    def ending(self, recorded: RecordedSteps, texts: StepTexts, token: int) -> list[Step]:
        if self.decides:
            return self._decision(recorded, texts)
        formula, meaning = "r_t = R h_t + b_R", "The state at the width of the words' vectors."
        if isinstance(self.model.network.readout, nn.Identity):
            formula, meaning = "r_t = h_t", "The state, as it is."
        if self.with_itself:
            meaning += " What was just taken from the tape goes to the next step."
        made = numbers(recorded.heard[-1].made[0, token])
        return [Step("readout", made, axes=("width",), formula=formula, meaning=meaning)]

    def _decision(self, recorded: RecordedSteps, texts: StepTexts) -> list[Step]:
        """What a classifier makes of the states of all words."""
        network: Any = self.model.network
        formula, meaning = READOUT[network.config.readout]
        found = step_trace(recorded.trace, "readout", Slots(texts.read.labels), [])
        for step in found:
            step.scope = "readout"
        mixed = numbers(recorded.heard[-1].given[0][0])
        kept = [step for step in found if step.name != "context"]
        read = Step("readout", mixed, axes=("width",), formula=formula, meaning=meaning)
        return [*kept, read]

    def compared(
        self, recorded: RecordedSteps, texts: StepTexts, layers: Sequence[int], token: int
    ) -> Pairs:
        """The tapes of the words up to this one, what it took from them, and the scores."""
        with hearing([self._reader(self.model.network)]) as heard:
            output = self.model.run(texts.read.beginning(token + 1))
        own = heard[0].made.state
        pairs = []
        for layer in layers:
            at = partial(self.scopes.of_step, layer)
            for name, tape in (("state", own.hidden), ("cell", own.cells)):
                if tape is not None:
                    kept = range(token + 1 - tape.shape[2], token + 1)
                    made = [recorded.trace.value(f"{at(i)}/{name}")[0] for i in kept]
                    pairs.append((np.stack(made), numbers(tape[layer, 0])))
            took = recorded.trace.value(f"{at(token)}/{self.summary}").reshape(-1)
            pairs.append((took, numbers(own.summary[layer, 0])))
        if self.symbol:
            if self.decides:  # from all words
                output = self.model.run(texts.read)
            pairs.append((self.scores(recorded.output, token), self.scores(output, token)))
        return pairs

    def _reader(self, network: Any) -> Reader:
        reader = network.encoder if self.part else network.body.reader
        assert isinstance(reader, Reader)
        return reader
