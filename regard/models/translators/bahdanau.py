"""Bahdanau: the decoder looks back at the source before each word it writes.

The translator attention was invented for: instead of one vector for the whole sentence, a context
of its own for each target word, mixed from all source positions by learned weights.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.attention import Additive, Attended, Mask, additive, attend, padding
from regard.attention.kernel.recurrent import LOOKING, PackedReader, PackedWriter, Products
from regard.models.dropout import Dropout
from regard.models.padding import pick
from regard.models.translators.base import Decoded, DecoderState, DecoderStep
from regard.models.translators.config import TranslatorConfig
from regard.models.translators.maxout import Maxout
from regard.models.translators.native import NativeTranslator, PackedTranslator
from regard.models.translators.packing import (
    linear_map,
    readout_maps,
    step_maps,
    unit_weights,
    word_tables,
)
from regard.models.translators.pointer import Pointer
from regard.models.vocabulary import Vocabulary
from regard.record import note, recording, scope
from regard.recurrent import Bidirectional, GatedUnit
from regard.recurrent.scan.bahdanau import BahdanauMatrices, BahdanauSteps, bahdanau_scan


@dataclass
class Annotations:
    """What the encoder leaves: annotations h_j, U_a h_j computed once, and which are padding."""

    annotations: Tensor
    keys: Tensor
    mask: Mask | None

    def select(self, rows: Tensor) -> None:
        """Keep these sentences."""
        self.annotations, self.keys = self.annotations[rows], self.keys[rows]
        if self.mask is not None and self.mask.allowed is not None:
            self.mask = Mask(allowed=self.mask.allowed[rows])


@dataclass(kw_only=True)
class BahdanauState(DecoderState):
    """The sentences' memory and the hypotheses' decoder states s_{i-1}."""

    memory: Annotations
    hidden: Tensor

    def select_sentences(self, rows: Tensor) -> None:
        self.memory.select(rows)

    def select_hypotheses(self, rows: Tensor) -> None:
        self.hidden = self.hidden.index_select(0, rows.flatten())


class Bahdanau(NativeTranslator):
    """Bahdanau, Cho & Bengio (2015), section 3 and appendix A.2.

    h_j = [forward h_j ; backward h_j]                            annotations
    e[i,j] = v_a · tanh(W_a s_{i-1} + U_a h_j)                    score
    a_i = softmax(e_i),  c_i = sum_j a[i,j] h_j                   weigh, mix
    s_0 = tanh(W_s backward h_1)
    s_i = GatedUnit(E y_{i-1}, s_{i-1}, c_i)
    p(y_i) = softmax(W_o maxout(U_o s_{i-1} + V_o E y_{i-1} + C_o c_i))
    """

    KNOWN = (
        *(Additive, Bidirectional, Dropout, GatedUnit, Maxout),
        *(Vocabulary, nn.Linear, nn.ModuleList),
    )

    def __init__(self, config: TranslatorConfig) -> None:
        super().__init__(config)
        width, hidden = config.width, config.hidden
        self.encoder = Bidirectional(width, hidden)
        self.alignment = Additive(hidden, 2 * hidden, hidden)
        self.decoder = GatedUnit(width, hidden, context=2 * hidden)
        self.first = nn.Linear(hidden, hidden)
        nn.init.xavier_uniform_(self.first.weight)
        nn.init.zeros_(self.first.bias)
        self.readout = Maxout((hidden, width, 2 * hidden), config.readout)
        self.pointer = Pointer(3 * hidden + width) if config.pointer else None

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[Annotations, Tensor]:
        """The memory of the sources, and s_0 (B, hidden)."""
        x = self.dropout(self.vocabulary.source(source.t())).transpose(0, 1)
        with scope("encoder"):
            annotations = self.encoder(x, lengths)
        keys = annotations @ self.alignment.w_key.t()
        n = source.shape[1]
        mask = None if int(lengths.min()) >= n else padding(lengths, n)
        backward_first = annotations[:, 0, self.config.hidden :]
        return Annotations(annotations, keys, mask), torch.tanh(self.first(backward_first))

    def align(self, memory: Annotations, queries: Tensor) -> Attended:
        """c_i (B, k, 2 · hidden) and a_i (B, k, S) of k states s_{i-1} (B, k, hidden) each."""
        score = functools.partial(
            additive,
            v=self.alignment.v,
            w_query=self.alignment.w_query,
            formula="e[i,j] = v_a · tanh(W_a s_{i-1} + U_a h_j)",
        )
        return attend(
            queries,
            memory.keys,
            memory.annotations,
            score=score,
            mask=memory.mask,
            need_weights=True,
        )

    def decode(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, rows: Tensor | None
    ) -> Decoded:
        memory, state = self.encode(source, source_lengths)
        y = self.dropout(self.vocabulary.target(target.t()))
        inputs = self.decoder.inputs(y)
        run = self._explained if recording() else self._fused
        before, contexts, weights = run(inputs, state, memory)
        known = tuple(pick(part.transpose(0, 1), rows) for part in (before, y, contexts))
        decoded = Decoded(self.dropout(self.readout(*known)))
        if self.pointer is None:
            return decoded
        every = source.unsqueeze(1).expand(-1, target.shape[1], -1)
        looked = pick(weights.transpose(0, 1), rows)
        return decoded._replace(pointed=self.pointer(known, looked, pick(every, rows)))

    def _fused(self, inputs: Tensor, state: Tensor, memory: Annotations) -> BahdanauSteps:
        """All steps at once, nothing noted; ``inputs`` (T, B, 3 · hidden) projected."""
        allowed = None if memory.mask is None else memory.mask.allowed
        matrices = BahdanauMatrices(
            self.alignment.w_query,
            self.alignment.v,
            self.decoder.context.weight,
            self.decoder.gates,
            self.decoder.candidate,
        )
        mask = None if allowed is None else allowed.squeeze(1)
        given = inputs, state, memory.keys, memory.annotations, mask, matrices
        return bahdanau_scan(*given, learn_weights=self.pointer is not None)

    def _explained(self, inputs: Tensor, state: Tensor, memory: Annotations) -> BahdanauSteps:
        """The same, step by step through :func:`attend`, every value noted."""
        steps = []
        for i, step in enumerate(inputs.unbind()):
            with scope(f"step {i}"):
                context, weights = self.align(memory, state.unsqueeze(1))
                assert weights is not None
                steps.append((state, context.squeeze(1), weights.squeeze(1)))
                state = self.decoder.step(step + self.decoder.context(context.squeeze(1)), state)
        found = BahdanauSteps(*(torch.stack(parts) for parts in zip(*steps, strict=True)))
        note(
            "alignment",
            found.weights.transpose(0, 1),
            axes=("query", "key"),
            formula="a[i,j] = softmax_j(v_a · tanh(W_a s_{i-1} + U_a h_j))",
            meaning="Where the decoder looked in the source before each word it wrote.",
        )
        return found

    def packed(self, weights: str) -> PackedTranslator:
        unit, alignment, vocabulary = self.decoder, self.alignment, self.vocabulary
        source, target = word_tables(vocabulary)
        both = [unit_weights(one) for one in (self.encoder.forwards, self.encoder.backwards)]
        reader = PackedReader(LOOKING, source, both, {"key": [(alignment.w_key, None)]}, weights)
        of_state, of_word, of_context = readout_maps(self.readout)
        products: Products = {
            "first": [linear_map(self.first)],
            "state": [(unit.gates, None), (alignment.w_query, None)],
            "word": step_maps(unit, unit.inputs, of_word),
            "context": step_maps(unit, unit.context, of_context),
            "candidate": [(unit.candidate, None)],
            "readout": [of_state],
            "out": [(vocabulary.output, vocabulary.bias)],
        }
        writer = PackedWriter(LOOKING, target, products, weights, v=alignment.v)
        return PackedTranslator(reader, writer)

    def state_of(self, source: Tensor, source_lengths: Tensor) -> BahdanauState:
        memory, state = self.encode(source, source_lengths)
        return BahdanauState(sentences=source.shape[0], memory=memory, hidden=state)

    def step_of(self, state: DecoderState, tokens: Tensor) -> DecoderStep:
        assert isinstance(state, BahdanauState)
        y = self.dropout(self.vocabulary.target(tokens))
        before = state.hidden
        with scope(f"step {state.position}"):
            queries = before.view(state.sentences, state.beams, -1)
            contexts, weights = self.align(state.memory, queries)
            assert weights is not None
            context = contexts.flatten(0, 1)
            inputs = self.decoder.inputs(y) + self.decoder.context(context)
            state.hidden = self.decoder.step(inputs, before)
        state.position += 1
        known, looked = (before, y, context), weights.flatten(0, 1)
        decoded = Decoded(self.dropout(self.readout(*known)))
        if self.pointer is not None:
            decoded = decoded._replace(pointed=self.pointer(known, looked, state.sources()))
        return DecoderStep(self.scores(decoded), looked)
