"""Recurrent: one step of a network that reads or writes word by word, as a worked example.

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
from regard.inside.explain.steptrace import Slots, StepScopes, step_trace
from regard.inside.textmodel import TextModel
from regard.models.translators.translation import name_targets
from regard.pieces.pieces import Pieces
from regard.pieces.tokenizer import EOS, SPECIAL
from regard.record import record
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


class RecurrentModel(ABC):
    """A recurrent model that regard trained, ready to be explained."""

    part = ""
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
    def given(self, whole: Trace, heard: list[HeardCall], layer: int, token: int) -> list[Step]:
        """What a step begins with."""

    @abstractmethod
    def compared(self, whole: Trace, texts: StepTexts, layer: int, token: int) -> Pairs:
        """What was explained, beside what the model's own pass gives."""

    def explain(
        self,
        text: str,
        word: str | None = None,
        to: str | None = None,
        layer: int | None = None,
        head: int | None = None,
    ) -> Explained:
        """The step of ``word``; if it is not given, the one with the strongest link."""
        texts = self._checked(self.read(text))
        queries, source = texts.queries, texts.source
        place = None if word is None else queries.word(word)[0]
        other = None if to is None else (source or queries).word(to)[0]
        check_place(self.name, (self.layers, 1), layer, head)
        whole, heard = self._recorded(texts)
        every = [whole[self.scopes.weights.format(layer=k)].value[0] for k in range(self.layers)]
        weights = np.stack(every)[:, np.newaxis]
        choice = choose(weights, queries, source, word=place, to=other, layer=layer)
        known = word is not None and (self.layers == 1 or layer is not None)
        found = self._step(whole, heard, texts, choice.best, every[choice.best.layer])
        return replace(found, choice=None if known else choice)

    def _step(
        self,
        whole: Trace,
        heard: list[HeardCall],
        texts: StepTexts,
        link: HeadLink,
        weights: Array,
    ) -> Explained:
        """The step of one word, in the layer of the ``link``."""
        layer, token = link.layer, link.word.start
        token += int(given_by(weights, link.word, link.to).argmax())
        slots, scope = self.slots(texts, token), self.scopes.of_step(layer, token)
        trace = step_trace(whole, scope, slots, self.given(whole, heard, layer, token))
        place = place_of(self.name, self.part)
        trace.mechanism, trace.tokens = f"{place} layer {layer} step {token + 1}", texts.read.labels
        scores = np.full(weights.shape, np.nan)
        row = self.scopes.scores_in(trace)
        end = weights.shape[1] if texts.source is not None else len(slots.tape)
        scores[token, end - len(row) : end] = row
        pairs = self.compared(whole, texts, layer, token)
        apart = max(float(np.abs(ours - own).max(initial=0)) for ours, own in pairs)
        return Explained(
            *(self.name, (self.layers, 1), texts.queries, layer, 0, link.word, link.to),
            *(None, whole, trace, weights, scores),
            *(Proof(sum(own.size for _, own in pairs), apart, f"{OWN} {self.same}"), self.part),
            recurrent=True,
            source=texts.source,
        )

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

    def _recorded(self, texts: StepTexts) -> tuple[Trace, list[HeardCall]]:
        """Everything that is noted in float64, and what was heard of the modules."""
        modules = self.modules(self.exact.network)
        with record(self.name, texts.read.labels) as whole, hearing(modules) as heard:
            self.exact.run(texts.read, texts.target)
        if texts.target is not None:
            name_targets(whole, texts.target.labels, texts.read.labels)
        return whole, heard


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
