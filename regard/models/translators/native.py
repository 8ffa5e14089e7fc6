"""Native: a Transformer's encoder, decoder and beam search in the kernel, without gradients.

Where nobody looks inside (no recorder, no hook, no gradient) and the weights are float32 on the
CPU, a search is one call, and so is a step of all hypotheses. Everything else goes through the
modules themselves and beam.py, which define what is computed here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import torch
from torch import Tensor, nn

from regard.attention import MultiHeadAttention
from regard.attention.kernel.layout import RowsLayout
from regard.attention.kernel.library import Kernel, kernel
from regard.attention.kernel.search import FoundPath, search
from regard.attention.kernel.stack import PackedStack, StackLayer, wanted_weights
from regard.attention.private import hooked_everywhere, untouched, version, watched
from regard.models.dropout import Dropout
from regard.models.layers import DecoderLayer, EncoderLayer, FeedForward
from regard.models.norm import LayerNorm
from regard.models.padding import real_rows
from regard.models.positions import Positions
from regard.models.translators.base import DecoderState, DecoderStep, Hypothesis, SearchOptions
from regard.models.translators.candidates import NEVER
from regard.models.translators.config import TranslatorConfig
from regard.models.vocabulary import Vocabulary
from regard.pieces.tokenizer import BOS, EOS
from regard.record import recording
from regard.trace import Array

KNOWN = {
    *(DecoderLayer, Dropout, EncoderLayer, FeedForward, LayerNorm, MultiHeadAttention),
    *(Positions, Vocabulary, nn.Identity, nn.LayerNorm, nn.Linear, nn.ModuleList),
}
"""What a Transformer is made of. A module of another class computes nobody knows what."""


class TransformerParts(NamedTuple):
    """What a Transformer translator consists of."""

    config: TranslatorConfig
    vocabulary: Vocabulary
    positions: Positions
    encoder: nn.ModuleList
    encoder_norm: nn.Module
    decoder: nn.ModuleList
    decoder_norm: nn.Module


class NativeTransformer:
    """The weights of a Transformer, laid out for the kernel."""

    def __init__(self, it: Kernel, parts: TransformerParts, weights: str) -> None:
        config, vocabulary = parts.config, parts.vocabulary
        tied = vocabulary.tied
        shared: dict[str, Any] = {
            "heads": config.heads,
            "before": config.norm == "pre",
            "activation": config.activation or "relu",
            "scale": math.sqrt(config.width),
            "weights": weights,
        }
        cross = [layer.cross for layer in parts.decoder if isinstance(layer, DecoderLayer)]
        memory = [linear for attention in cross for linear in (attention.key, attention.value)]
        self.it, self.layers, self.table = it, config.layers, parts.positions
        self.weights = weights
        self.encoder = PackedStack(
            [_layer(layer) for layer in parts.encoder],
            words=(vocabulary.words if tied else vocabulary.source_words).detach().clone(),
            last=parts.encoder_norm,
            out=[(linear.weight, linear.bias) for linear in memory],
            **shared,
        )
        self.decoder = PackedStack(
            [_layer(layer) for layer in parts.decoder],
            words=self.encoder.words if tied else vocabulary.target_words.detach().clone(),
            last=parts.decoder_norm,
            out=[(vocabulary.output, vocabulary.bias)],
            **shared,
        )

    def start(self, source: Tensor, lengths: Tensor) -> NativeState:
        """Read the sources: their keys and values in every layer of the decoder."""
        sizes = lengths.numpy()
        first = np.concatenate(([0], sizes.cumsum()))
        tokens = _real(source, lengths)
        memory = self.run(self.encoder, tokens, first, RowsLayout(), int(sizes.max()))
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
        self, stack: PackedStack, tokens: Tensor, first: np.ndarray, rows: RowsLayout, longest: int
    ) -> Tensor:
        """What the stack makes of ``tokens`` (rows,), up to position ``longest``."""
        positions = self.table.rows(longest)
        out = torch.empty(len(tokens), stack.layout.out.out)
        tokens = tokens.contiguous()
        rows.stack, rows.tokens, rows.first = stack.pointer, tokens.data_ptr(), first.ctypes.data
        rows.sentences, rows.out = len(first) - 1, out.data_ptr()
        rows.positions = positions.data_ptr()
        rows.threads = torch.get_num_threads()
        self.it.stack(rows)
        return out

    def search(
        self, source: Tensor, lengths: Tensor, limits: Array, wanted: SearchOptions
    ) -> list[list[Hypothesis]] | None:
        """As :meth:`Translator.search`."""
        sizes = lengths.numpy()
        found = search(
            self.it,
            (self.encoder, self.decoder),
            self.table.rows(int(max(sizes.max(), limits.max()))),
            _real(source, lengths),
            sizes,
            limits,
            beam=wanted.beam,
            best=wanted.best,
            penalty=wanted.length_penalty,
            begin=BOS,
            end=EOS,
            silent=NEVER,
            layer=self.layers - 1 if wanted.layer is None else wanted.layer,
            head=-1 if wanted.head is None else wanted.head,
        )
        return None if found is None else [[_hypothesis(path) for path in each] for each in found]


def _hypothesis(path: FoundPath) -> Hypothesis:
    finished = path.said[-1] == EOS
    ids = path.said[:-1] if finished else path.said
    return Hypothesis(ids, path.score, path.weights, finished)


def _real(source: Tensor, lengths: Tensor) -> Tensor:
    """The tokens of all sources, one behind the other, without padding."""
    rows = real_rows(lengths, source.shape[1])
    return source.flatten() if rows is None else source.flatten().index_select(0, rows)


def _layer(layer: nn.Module) -> StackLayer:
    assert isinstance(layer, EncoderLayer | DecoderLayer)
    own = layer.attention
    cross = (layer.cross_norm, layer.cross) if isinstance(layer, DecoderLayer) else None
    return StackLayer(
        own_norm=layer.attention_norm,
        own=(own.query, own.key, own.value),
        own_out=own.output,
        cross_norm=cross and cross[0],
        query=cross and cross[1].query,
        cross_out=cross and cross[1].output,
        inner_norm=layer.feedforward_norm,
        inner=layer.feedforward.inner,
        outer=layer.feedforward.outer,
    )


@dataclass(kw_only=True)
class NativeState(DecoderState):
    """Keys and values of the sources, and of every step that was made.

    Nothing is moved when hypotheses are chosen: ``path`` (hypotheses, steps) says which row of each
    earlier step belongs to a hypothesis, ``lines`` (sentences,) whose source a sentence has.
    """

    native: NativeTransformer
    source: np.ndarray
    """(sources + 1,): the rows of ``memory`` of each source."""
    memory: Tensor
    longest: int
    lines: np.ndarray
    path: np.ndarray
    written: list[Tensor] = field(default_factory=list)
    """Of each step, (layers, rows, 2 · width)."""

    def select_sentences(self, rows: Tensor) -> None:
        self.lines = self.lines[rows.numpy()]

    def select_hypotheses(self, rows: Tensor) -> None:
        chosen = rows.numpy().reshape(-1)
        self.path = self.path[chosen]

    def step(self, tokens: Tensor) -> DecoderStep:
        """As :meth:`Translator.step`."""
        native, count = self.native, self.sentences * self.beams
        stack = native.decoder
        self.written.append(torch.empty(native.layers, count, 2 * stack.width))
        written = np.array([made.data_ptr() for made in self.written], np.int64)
        at_once = np.array([made.shape[1] for made in self.written], np.int64)
        weights = torch.zeros(count, self.longest)
        rows = RowsLayout(
            position=self.position,
            written=written.ctypes.data,
            at_once=at_once.ctypes.data,
            path=self.path.ctypes.data,
            source=self.source.ctypes.data,
            lines=self.lines.ctypes.data,
            memory=self.memory.data_ptr(),
            layer=native.layers - 1 if self.layer is None else self.layer,
            head=-1 if self.head is None else self.head,
            weights=weights.data_ptr(),
            longest=self.longest,
        )
        first = np.arange(0, count + 1, self.beams)
        logits = native.run(stack, tokens, first, rows, self.position + 1)
        self.path = np.concatenate((self.path, np.arange(count)[:, None]), 1)
        self.position += 1
        return DecoderStep(logits, weights)


class _Made(NamedTuple):
    """A packed Transformer, and what it was made of: the parameters, kept so that no other tensor
    comes to stand where one of them stood, how often each had been changed, and some of its
    numbers. An optimizer that is fused changes weights and does not count it."""

    native: NativeTransformer
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


def native_of(model: nn.Module, parts: TransformerParts) -> NativeTransformer | None:
    """The model as the kernel runs it; None where its own modules must run."""
    it = kernel()
    if it is None or model.training or torch.is_grad_enabled() or recording() or watched():
        return None
    parameters: list[Tensor] = []
    whole = (untouched(part, KNOWN, parameters) for part in parts[1:])
    if hooked_everywhere() or not all(whole):
        return None
    made, weights = _made.get(model), wanted_weights()
    versions = [version(parameter) for parameter in parameters]
    if made is None or made.stale(it, weights, versions):
        if not all(_plain(parameter) for parameter in parameters):
            return None
        native, probes = NativeTransformer(it, parts, weights), _probes(parameters)
        made = _made[model] = _Made(native, parameters, versions, probes, _read(probes))
    return made.native


def _plain(parameter: Tensor) -> bool:
    return (
        type(parameter) in (Tensor, nn.Parameter)
        and parameter.dtype == torch.float32
        and parameter.is_cpu
        and not parameter.is_inference()
    )
