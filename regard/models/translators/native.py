"""Native: encoder, decoder and beam search of a translator in the kernel, without gradients.

Where nobody looks inside (no recorder, no hook, no gradient) and the weights are float32 on the
CPU, a search is one call, and so is a step of all hypotheses. Everything else goes through the
modules themselves and beam.py, which define what is computed here. Each design says itself how the
kernel is to read its weights: :meth:`NativeTranslator.packed`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, ClassVar, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from regard.attention.kernel.layout import RowsLayout
from regard.attention.kernel.library import Kernel, kernel
from regard.attention.kernel.run import floats
from regard.attention.kernel.search import MOST_STEPS, FoundPath, search
from regard.attention.kernel.weights import PackedNetwork, wanted_weights
from regard.attention.private import hooked_everywhere, untouched, version, watched
from regard.models.padding import check_batch, real_rows
from regard.models.positions import Positions
from regard.models.translators.base import (
    DecoderState,
    DecoderStep,
    Hypothesis,
    SearchOptions,
    Translator,
)
from regard.models.translators.candidates import NEVER
from regard.pieces.tokenizer import BOS, EOS
from regard.record import recording
from regard.trace import Array


class PackedTranslator(NamedTuple):
    """A translator as the kernel reads it."""

    encoder: PackedNetwork
    decoder: PackedNetwork
    positions: Positions | None = None
    layers: int = 1
    """Of the decoder, of which each looks at the source."""
    looks: bool = True
    """Whether it tells where it looked."""


class NativeTranslator(Translator):
    """A design that the kernel can run."""

    KNOWN: ClassVar[tuple[type, ...]]
    """What it is made of. A module of another class computes nobody knows what."""

    @abstractmethod
    def packed(self, weights: str) -> PackedTranslator:
        """Its weights, laid out for the kernel. A class derived from one that has this is another
        design, unless it has this too."""

    @abstractmethod
    def state_of(self, source: Tensor, source_lengths: Tensor) -> DecoderState:
        """:meth:`first_state` by the modules."""

    @abstractmethod
    def step_of(self, state: DecoderState, tokens: Tensor) -> DecoderStep:
        """:meth:`step` by the modules."""

    def search(
        self, source: Tensor, source_lengths: Tensor, limits: Array, wanted: SearchOptions
    ) -> list[list[Hypothesis]] | None:
        if not source.is_cpu or limits.max() > MOST_STEPS:
            return None
        check_batch(source, source_lengths)
        self.check_head(wanted.layer, wanted.head)
        native = native_of(self)
        return None if native is None else native.search(source, source_lengths, limits, wanted)

    def first_state(self, source: Tensor, source_lengths: Tensor) -> DecoderState:
        native = native_of(self) if source.is_cpu else None
        if native is None:
            return self.state_of(source, source_lengths)
        return native.start(source, source_lengths)

    def step(self, state: DecoderState, tokens: Tensor) -> DecoderStep:
        return state.step(tokens) if isinstance(state, NativeState) else self.step_of(state, tokens)


class Native:
    """A translator that the kernel runs."""

    def __init__(self, it: Kernel, packed: PackedTranslator, weights: str) -> None:
        self.it, self.packed, self.weights = it, packed, weights

    def start(self, source: Tensor, lengths: Tensor) -> NativeState:
        """Read the sources: what the decoder needs of them."""
        sizes = lengths.long().numpy()
        first = np.concatenate(([0], sizes.cumsum()))
        tokens = _real(source, lengths)
        memory = self.run(self.packed.encoder, tokens, first, RowsLayout(), int(sizes.max()))
        return NativeState(
            sentences=len(sizes),
            native=self,
            source=first,
            memory=memory,
            longest=source.shape[1],
            lines=np.arange(len(sizes)),
            path=np.zeros((len(sizes), 0), np.int64),
        )

    def run(
        self,
        network: PackedNetwork,
        tokens: Tensor,
        first: np.ndarray,
        rows: RowsLayout,
        longest: int,
    ) -> Tensor:
        """What the network makes of ``tokens`` (rows,), up to position ``longest``."""
        positions = self.positions(longest)
        out = floats(len(tokens), network.network.out)
        tokens = tokens.long().contiguous()
        rows.network, rows.tokens, rows.first = (
            network.pointer,
            tokens.data_ptr(),
            first.ctypes.data,
        )
        rows.sentences, rows.out = len(first) - 1, out.data_ptr()
        rows.positions = None if positions is None else positions.data_ptr()
        rows.threads = torch.get_num_threads()
        self.it.rows(rows)
        return out

    def positions(self, longest: int) -> Tensor | None:
        table = self.packed.positions
        return None if table is None else table.rows(longest)

    def search(
        self, source: Tensor, lengths: Tensor, limits: Array, wanted: SearchOptions
    ) -> list[list[Hypothesis]] | None:
        """As :meth:`Translator.search`."""
        sizes = lengths.long().numpy()
        found = search(
            self.it,
            (self.packed.encoder, self.packed.decoder),
            self.positions(int(max(sizes.max(), limits.max()))),
            _real(source, lengths),
            sizes,
            np.ascontiguousarray(limits, np.int64),
            beam=wanted.beam,
            best=wanted.best,
            penalty=wanted.length_penalty,
            begin=BOS,
            end=EOS,
            silent=NEVER,
            layer=self.layer(wanted.layer),
            head=-1 if wanted.head is None else wanted.head,
        )
        if found is None:
            return None
        return [[_hypothesis(path, self.packed.looks) for path in each] for each in found]

    def layer(self, wanted: int | None) -> int:
        """Whose weights are told: the last one's unless another is wanted."""
        return self.packed.layers - 1 if wanted is None else wanted


def _hypothesis(path: FoundPath, looks: bool) -> Hypothesis:
    finished = path.said[-1] == EOS
    ids = path.said[:-1] if finished else path.said
    return Hypothesis(ids, path.score, path.weights if looks else None, finished)


def _real(source: Tensor, lengths: Tensor) -> Tensor:
    """The tokens of all sources, one behind the other, without padding."""
    rows, tokens = real_rows(lengths, source.shape[1]), source.long().flatten()
    return tokens if rows is None else tokens.index_select(0, rows)


@dataclass(kw_only=True)
class NativeState(DecoderState):
    """What was made of the sources, and what every step left.

    Nothing is moved when hypotheses are chosen: ``path`` (hypotheses, steps) says which row of each
    earlier step belongs to a hypothesis, ``lines`` (sentences,) whose source a sentence has.
    """

    native: Native
    source: np.ndarray
    """(sources + 1,): the rows of ``memory`` of each source."""
    memory: Tensor
    longest: int
    lines: np.ndarray
    path: np.ndarray
    written: list[Tensor] = field(default_factory=list)
    """Of each step, what its rows left to those after it."""

    def select_sentences(self, rows: Tensor) -> None:
        self.lines = self.lines[rows.numpy()]

    def select_hypotheses(self, rows: Tensor) -> None:
        chosen = rows.numpy().reshape(-1)
        self.path = self.path[chosen]

    def step(self, tokens: Tensor) -> DecoderStep:
        """As :meth:`Translator.step`."""
        native, count = self.native, self.sentences * self.beams
        decoder = native.packed.decoder
        self.written.append(floats(count, decoder.network.kept))
        written = np.array([made.data_ptr() for made in self.written], np.int64)
        at_once = np.array([made.shape[0] for made in self.written], np.int64)
        weights = floats(count, self.longest).zero_()
        rows = RowsLayout(
            position=self.position,
            written=written.ctypes.data,
            at_once=at_once.ctypes.data,
            path=self.path.ctypes.data,
            source=self.source.ctypes.data,
            lines=self.lines.ctypes.data,
            memory=self.memory.data_ptr(),
            layer=native.layer(self.layer),
            head=-1 if self.head is None else self.head,
            weights=weights.data_ptr(),
            longest=self.longest,
        )
        first = np.arange(0, count + 1, self.beams)
        logits = native.run(decoder, tokens, first, rows, self.position + 1)
        self.path = np.concatenate((self.path, np.arange(count)[:, None]), 1)
        self.position += 1
        return DecoderStep(logits, weights if native.packed.looks else None)


class _Made(NamedTuple):
    """A packed translator, and what it was made of: the parameters, kept so that no other tensor
    comes to stand where one of them stood, how often each had been changed, and some of its
    numbers. An optimizer that is fused changes weights and does not count it."""

    native: Native
    parameters: list[Tensor]
    versions: list[tuple[int, int]]
    probes: list[tuple[Callable[[int], float], int]]
    """Of a few numbers of each parameter, how it is read and where."""
    seen: list[float]

    def stale(self, it: Kernel, weights: str, versions: list[tuple[int, int]]) -> bool:
        """Whether it must be made anew."""
        made = self.native.it, self.native.weights, self.versions
        return made != (it, weights, versions) or _read(self.probes) != self.seen


def _probes(parameters: list[Tensor]) -> list[tuple[Callable[[int], float], int]]:
    """A few numbers of each: any step of training changes some of them."""
    views: list[Any] = [parameter.detach().numpy() for parameter in parameters]
    return [
        (view.item, place)
        for view in views
        for place in (0, view.size // 3, 2 * view.size // 3, view.size - 1)
    ]


def _read(probes: list[tuple[Callable[[int], float], int]]) -> list[float]:
    return [item(place) for item, place in probes]


_made: WeakKeyDictionary[nn.Module, _Made] = WeakKeyDictionary()


def native_of(model: NativeTranslator) -> Native | None:
    """The model as the kernel runs it; None where its own modules must run."""
    it = kernel()
    if it is None or model.training or torch.is_grad_enabled() or recording() or watched():
        return None
    parameters: list[Tensor] = []
    whole = (untouched(part, model.KNOWN, parameters) for part in model.children())
    if hooked_everywhere() or _another(model) or not all(whole):
        return None
    made, weights = _made.get(model), wanted_weights()
    versions = [version(parameter) for parameter in parameters]
    if made is None or made.stale(it, weights, versions):
        if not all(_plain(parameter) for parameter in parameters):
            return None
        native, probes = Native(it, model.packed(weights), weights), _probes(parameters)
        made = _made[model] = _Made(native, parameters, versions, probes, _read(probes))
    return made.native


def _another(model: nn.Module) -> bool:
    """Whether a model computes otherwise than the class that says how it is laid out: it is of a
    class derived from that one, or somebody has put a method of his own in its place."""
    design = type(model)
    return "packed" not in vars(design) or any(callable(getattr(design, n, 0)) for n in vars(model))


def _plain(parameter: Tensor) -> bool:
    return (
        type(parameter) in (Tensor, nn.Parameter)
        and parameter.dtype == torch.float32
        and parameter.is_cpu
        and not parameter.is_inference()
    )
