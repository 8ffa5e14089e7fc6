"""Recurrent: one step of a network that reads or writes word by word, as a worked example, and what
is predicted from it.

One pass in float64 with every value noted gives everything that is shown. The proof is the pass
that the model always makes, in float32, its loop in one call and nothing noted.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from copy import deepcopy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from torch import nn

from regard.errors import DataError
from regard.inside.explain.explained import Explained, Proof, check_place, given_by, place_of
from regard.inside.explain.link import HeadLink, choose
from regard.inside.explain.stepending import EndingRequest, predicted, prediction_steps
from regard.inside.explain.steptrace import Slots, StepScopes, step_trace
from regard.inside.prediction import kind_of, prediction, scores_of
from regard.inside.textmodel import TextModel
from regard.models.translators.translation import name_targets
from regard.pieces.pieces import Pieces
from regard.pieces.tokenizer import EOS, SPECIAL
from regard.pieces.whole import Prediction
from regard.record import record
from regard.text import Word
from regard.trace import Array, Step, Trace

MOST = 512
"""Tokens of a text, at most: every value of every step is kept."""
OWN = "the model's own forward pass (float32, its loop in one call, nothing noted) gives the same"

Pairs = list[tuple[Array, Array]]
"""Numbers that were explained, and those of the model's own pass."""


@dataclass(frozen=True)
class StepTexts:
    """What is read to be explained."""

    read: Pieces
    target: Pieces | None = None
    """What a decoder reads, its start mark in front."""

    @property
    def queries(self) -> Pieces:
        """A word for each step: the one that is read, of a decoder the one that is written."""
        if self.target is None:
            return self.read
        return self.target.without_first().before(SPECIAL[EOS], EOS)

    @property
    def source(self) -> Pieces | None:
        """What a decoder looks at."""
        return None if self.target is None else self.read


@dataclass
class HeardCall:
    """The last call of a module."""

    given: tuple[Any, ...] = ()
    made: Any = None


@dataclass(frozen=True)
class RecordedSteps:
    """One pass in float64: everything that was noted, what was heard, and what was put out."""

    trace: Trace
    heard: list[HeardCall]
    output: Any


class RecurrentModel(ABC):
    """A recurrent model that regard trained, ready to be explained."""

    part = ""
    symbol = ""
    """What the words or labels are compared with, as formulas call it; empty: with nothing."""
    same = ""
    """What the model's own pass gives as well, in words."""
    layers = 1

    def __init__(self, model: TextModel) -> None:
        self.model, self.name = model, model.title

    @property
    @abstractmethod
    def scopes(self) -> StepScopes:
        """Where its steps are noted."""

    @abstractmethod
    def read(self, text: str) -> StepTexts:
        """A text, and what is written of it."""

    @abstractmethod
    def modules(self, network: Any) -> Sequence[nn.Module]:
        """Those whose calls :meth:`given` needs."""

    @abstractmethod
    def slots(self, texts: StepTexts, token: int) -> Slots:
        """What a step's keys stand for."""

    @abstractmethod
    def given(self, recorded: RecordedSteps, layer: int, token: int) -> list[Step]:
        """What a step begins with."""

    @abstractmethod
    def ending(self, recorded: RecordedSteps, texts: StepTexts, token: int) -> list[Step]:
        """What stands between the last layer's step and the scores of the words or labels."""

    @abstractmethod
    def compared(
        self, recorded: RecordedSteps, texts: StepTexts, layers: Sequence[int], token: int
    ) -> Pairs:
        """What was explained of these layers, beside what the model's own pass gives."""

    @abstractmethod
    def followed(self, texts: StepTexts) -> int:
        """The step to follow to the prediction, if nobody says which."""

    def explain(
        self,
        text: str,
        word: str | None = None,
        to: str | None = None,
        layer: int | None = None,
        head: int | None = None,
        asked: EndingRequest | None = None,
    ) -> Explained:
        """The step of ``word``, and what is predicted from it; if no word is given, the step with
        the strongest link, or, of the whole, the one that the prediction is made from."""
        asked = asked or EndingRequest()
        texts = self._checked(self.read(text))
        queries, source = texts.queries, texts.source
        place = None if word is None else queries.word(word)[0]
        if place is None and asked.whole:
            place = _token(queries, self.followed(texts))
        other = None if to is None else (source or queries).word(to)[0]
        check_place(self.name, (self.layers, 1), layer, head)
        recorded = self._recorded(texts)
        paths = [self.scopes.weights.format(layer=k) for k in range(self.layers)]
        every = [recorded.trace[path].value[0] for path in paths]
        weights = np.stack(every)[:, np.newaxis]
        choice = choose(weights, queries, source, word=place, to=other, layer=layer)
        known = word is not None and (self.layers == 1 or layer is not None)
        found = self._step(recorded, texts, choice.best, every[choice.best.layer], asked)
        return replace(found, choice=None if known else choice)

    def _step(
        self,
        recorded: RecordedSteps,
        texts: StepTexts,
        link: HeadLink,
        weights: Array,
        asked: EndingRequest,
    ) -> Explained:
        """The step of one word, in the layer of the ``link`` or in all, and what follows of it."""
        layer, token = link.layer, link.word.start
        token += int(given_by(weights, link.word, link.to).argmax())
        slots = self.slots(texts, token)
        trace = self._of_layer(recorded, slots, layer, token)
        scores = np.full(weights.shape, np.nan)
        row = self.scopes.scores_in(trace)
        end = weights.shape[1] if texts.source is not None else len(slots.tape)
        scores[token, end - len(row) : end] = row
        if asked.whole and self.layers > 1:
            trace = self._all_layers(recorded, slots, token)
        place = place_of(self.name, self.part)
        where = "" if asked.whole else f" layer {layer}"
        trace.mechanism, trace.tokens = f"{place}{where} step {token + 1}", texts.read.labels
        shown = range(self.layers) if asked.whole else [layer]
        pairs = self.compared(recorded, texts, shown, token)
        apart = max(float(np.abs(ours - own).max(initial=0)) for ours, own in pairs)
        found = Explained(
            *(self.name, (self.layers, 1), texts.queries, layer, 0, link.word, link.to),
            *(None, recorded.trace, trace, weights, scores),
            *(Proof(sum(own.size for _, own in pairs), apart, f"{OWN} {self.same}"), self.part),
            recurrent=True,
            source=texts.source,
        )
        return self._predicting(found, recorded, texts, token, asked) if self.symbol else found

    def _predicting(
        self,
        found: Explained,
        recorded: RecordedSteps,
        texts: StepTexts,
        token: int,
        asked: EndingRequest,
    ) -> Explained:
        """With what is predicted from the step."""
        said = predicted(self.model, self.scores(recorded.output, token), asked)
        if not asked.whole:
            found.trace.steps += self._above(recorded, found.layer, token)
        found.trace.steps += self.ending(recorded, texts, token)
        found.trace.steps += prediction_steps(said, self.symbol)
        each = self._each(recorded, texts, asked) if asked.whole and texts.target else []
        return replace(found, predicted=said, each=tuple(each))

    def _each(
        self, recorded: RecordedSteps, texts: StepTexts, asked: EndingRequest
    ) -> list[Prediction]:
        """The likeliest word at every step of a decoder."""
        found = []
        for token in range(len(texts.queries)):
            scores = self.scores(recorded.output, token)
            best = int(scores.argmax())
            said = prediction(self.model, kind_of(self.model), scores, asked.temperature, best)
            found.append(said)
        return found

    def scores(self, output: Any, token: int) -> Array:
        """Of all words or labels, after the step of a token."""
        found = scores_of(kind_of(self.model), output, token)
        assert found is not None
        return found

    def _of_layer(self, recorded: RecordedSteps, slots: Slots, layer: int, token: int) -> Trace:
        scope = self.scopes.of_step(layer, token)
        return step_trace(recorded.trace, scope, slots, self.given(recorded, layer, token))

    def _all_layers(self, recorded: RecordedSteps, slots: Slots, token: int) -> Trace:
        """The steps of this token, those of each layer in its scope."""
        trace = Trace()
        for layer in range(self.layers):
            for step in self._of_layer(recorded, slots, layer, token):
                step.scope = f"layer {layer}/{step.scope}".rstrip("/")
                trace.steps.append(step)
        return trace

    def _above(self, recorded: RecordedSteps, layer: int, token: int) -> list[Step]:
        """What the layers above this one make of it."""
        found = []
        for above in range(layer + 1, self.layers):
            made = recorded.trace[f"{self.scopes.of_step(above, token)}/state"]
            meaning = "What the next layer makes of what was handed to it, by steps of its own."
            step = Step("state", made.value[0], axes=("hidden",), formula=made.formula)
            step.meaning, step.scope = meaning, f"layer {above}"
            found.append(step)
        return found

    @cached_property
    def exact(self) -> TextModel:
        """The model as it is explained, in float64."""
        return replace(self.model, network=deepcopy(self.model.network).double())

    def _checked(self, texts: StepTexts) -> StepTexts:
        longest = max(len(texts.read), len(texts.queries))
        if longest > MOST:
            raise DataError(
                f"every step of a text is kept to explain one of them: it may have {MOST} tokens, "
                f"this one has {longest:,}; give a shorter one"
            )
        if all(texts.read.silent):
            raise DataError(f"there is no word in the text that {self.name} can read")
        if all(texts.queries.silent):
            raise DataError(f"{self.name} wrote nothing for this text: give --target TEXT")
        return texts

    def _recorded(self, texts: StepTexts) -> RecordedSteps:
        modules = self.modules(self.exact.network)
        with record(self.name, texts.read.labels) as whole, hearing(modules) as heard:
            output = self.exact.run(texts.read, texts.target)
        if texts.target is not None:
            name_targets(whole, texts.target.labels, texts.read.labels)
        return RecordedSteps(whole, heard, output)


def _token(pieces: Pieces, place: int) -> Word:
    return Word(pieces.labels[place], place, place + 1)


@contextmanager
def hearing(modules: Sequence[nn.Module]) -> Iterator[list[HeardCall]]:
    """The last call of each of the modules."""
    heard = [HeardCall() for _ in modules]
    with ExitStack() as stack:
        for module, call in zip(modules, heard, strict=True):

            def after(module: nn.Module, given: Any, made: Any, call: HeardCall = call) -> None:
                call.given, call.made = given, made

            stack.callback(module.register_forward_hook(after).remove)
        yield heard
