"""EncoderDecoder: read the whole sentence into one vector, then write from it.

All that the writer knows of the source is one vector of fixed width, however long the sentence:
long sentences do not fit, which is what Bahdanau's attention was invented for.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.attention.kernel.recurrent import TOLD, PackedReader, PackedWriter, Products
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
from regard.models.vocabulary import Vocabulary
from regard.record import note, recording, scope
from regard.recurrent import GatedUnit


@dataclass(kw_only=True)
class EncoderDecoderState(DecoderState):
    """The vector of each sentence, what it adds to the unit's inputs, and the decoders' states."""

    context: Tensor
    projected: Tensor
    hidden: Tensor

    def select_sentences(self, rows: Tensor) -> None:
        self.context, self.projected = self.context[rows], self.projected[rows]

    def select_hypotheses(self, rows: Tensor) -> None:
        self.hidden = self.hidden.index_select(0, rows.flatten())


class EncoderDecoder(NativeTranslator):
    """Cho et al. (2014, sections 2.2 and 2.3, appendix A.1), one layer each way.

        c = tanh(V h_N)                                  h_N: the state after the last source token
        s_0 = tanh(V' c),  s_i = GatedUnit(E y_{i-1}, s_{i-1}, c)
        p(y_i) = softmax(W_o maxout(O_s s_i + O_y E y_{i-1} + O_c c))

    The same c enters every step and all gates. The unit's equations are those of Bahdanau et al.
    """

    KNOWN = (Dropout, GatedUnit, Maxout, Vocabulary, nn.Linear, nn.ModuleList)

    def __init__(self, config: TranslatorConfig) -> None:
        super().__init__(config)
        width, hidden = config.width, config.hidden
        self.encoder = GatedUnit(width, hidden)
        self.decoder = GatedUnit(width, hidden, context=hidden)
        self.summary = nn.Linear(hidden, hidden)
        self.first = nn.Linear(hidden, hidden)
        for linear in (self.summary, self.first):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)
        self.readout = Maxout((hidden, width, hidden), config.readout)

    def encode(self, source: Tensor, lengths: Tensor) -> Tensor:
        """The one vector c (B, hidden) of each sentence."""
        x = self.dropout(self.vocabulary.source(source.t())).transpose(0, 1)
        with scope("encoder"):
            states = self.encoder(x)
        last = states[torch.arange(source.shape[0], device=source.device), lengths - 1]
        context = torch.tanh(self.summary(last))
        if recording():
            note(
                "context",
                context,
                axes=("width",),
                formula="c = tanh(V h_N)",
                meaning="The whole sentence in one vector, the same for every word written.",
            )
        return context

    def decode(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, rows: Tensor | None
    ) -> Decoded:
        context = self.encode(source, source_lengths)
        y = self.dropout(self.vocabulary.target(target.t())).transpose(0, 1)
        with scope("decoder"):
            states = self.decoder(y, torch.tanh(self.first(context)), context=context)
        every = context.unsqueeze(1).expand(-1, target.shape[1], -1)
        features = self.readout(pick(states, rows), pick(y, rows), pick(every, rows))
        return Decoded(self.dropout(features))

    def packed(self, weights: str) -> PackedTranslator:
        unit, vocabulary = self.decoder, self.vocabulary
        source, target = word_tables(vocabulary)
        of_state, of_word, of_context = readout_maps(self.readout)
        once = {
            "summary": [linear_map(self.summary)],
            "context": step_maps(unit, unit.context, of_context),
        }
        products: Products = {
            "first": [linear_map(self.first)],
            "state": [(unit.gates, None)],
            "word": step_maps(unit, unit.inputs, of_word),
            "candidate": [(unit.candidate, None)],
            "readout": [of_state],
            "out": [(vocabulary.output, vocabulary.bias)],
        }
        reader = PackedReader(TOLD, source, [unit_weights(self.encoder)], once, weights)
        writer = PackedWriter(TOLD, target, products, weights)
        return PackedTranslator(reader, writer, looks=False)

    def state_of(self, source: Tensor, source_lengths: Tensor) -> EncoderDecoderState:
        context = self.encode(source, source_lengths)
        return EncoderDecoderState(
            sentences=source.shape[0],
            context=context,
            projected=self.decoder.context(context),
            hidden=torch.tanh(self.first(context)),
        )

    def step_of(self, state: DecoderState, tokens: Tensor) -> DecoderStep:
        assert isinstance(state, EncoderDecoderState)
        y = self.dropout(self.vocabulary.target(tokens))
        shape = (state.sentences, state.beams, -1)
        inputs = self.decoder.inputs(y).view(shape) + state.projected.unsqueeze(1)
        with scope(f"step {state.position}"):
            state.hidden = self.decoder.step(inputs.flatten(0, 1), state.hidden)
        every = state.context.unsqueeze(1).expand(-1, state.beams, -1).flatten(0, 1)
        features = self.dropout(self.readout(state.hidden, y, every))
        state.position += 1
        return DecoderStep(self.vocabulary.logits(features), None)
