"""LSTMN translators: an LSTMN reads the source, another writes the target and looks back.

The encoder and the decoder both attend to their own past; the decoder also to the source, in one
of the two ways of Cheng, Dong & Lapata (2016, section 4).
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from regard.attention import padding
from regard.models.padding import pick
from regard.models.translators.base import Decoded, DecoderState, DecoderStep, Translator
from regard.models.translators.config import TranslatorConfig
from regard.models.translators.maxout import Maxout
from regard.record import note, recording, scope
from regard.recurrent import LSTMN
from regard.recurrent.fusion import DeepFusion, Fusion, FusionState, ShallowFusion, SourceTapes


@dataclass(kw_only=True)
class LSTMNState(DecoderState):
    """The sentences' tapes, and those of the hypotheses."""

    source: SourceTapes
    written: FusionState

    def select_sentences(self, rows: Tensor) -> None:
        self.source = self.source.select(rows)

    def select_hypotheses(self, rows: Tensor) -> None:
        self.written = self.written.select(rows.flatten())


class LSTMNTranslator(Translator):
    """g_j, m_j = LSTMN(E x_1 … E x_S);  h_t, g~_t = fusion(E y_{t-1}, the source's tapes)

    p(y_t) = softmax(W_o maxout(U h_t + V E y_{t-1} + C g~_t))

    ``lstmn-shallow`` has :class:`ShallowFusion`, ``lstmn-deep`` :class:`DeepFusion`. The paper
    does not translate; the readout is that of the other recurrent designs.
    """

    def __init__(self, config: TranslatorConfig) -> None:
        super().__init__(config)
        width, hidden = config.width, config.hidden
        self.encoder = LSTMN(width, hidden)
        self.decoder: Fusion
        if config.model == "lstmn-deep":
            self.decoder = DeepFusion(width, hidden)
        else:
            self.decoder = ShallowFusion(width, hidden)
        self.readout = Maxout((hidden, width, hidden), config.readout)

    def encode(self, source: Tensor, lengths: Tensor) -> tuple[SourceTapes, FusionState]:
        """The tapes of the sources, and the decoder's beginning.

        The encoder looks only back, so that padding, which comes last, needs no care but a mask.
        """
        x = self.dropout(self.vocabulary.source(source.t()))
        with scope("encoder"):
            tapes = self.encoder(x).state.values()[0]
        n = source.shape[1]
        mask = None if int(lengths.min()) >= n else padding(lengths, n)
        last = tapes[torch.arange(len(lengths), device=lengths.device), lengths - 1]
        return self.decoder.source(tapes, mask), self.decoder.start(last)

    def decode(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, rows: Tensor | None
    ) -> Decoded:
        memory, written = self.encode(source, source_lengths)
        y = self.dropout(self.vocabulary.target(target.t()))
        with scope("decoder"):
            states, found, weights = self.decoder(y, written, memory)
        if recording():
            note(
                "alignment",
                weights.transpose(0, 1),
                axes=("query", "key"),
                formula="softmax_j(b[t,j])",
                meaning="Where the decoder looked in the source before each word it wrote.",
            )
        parts = (states, y, found)
        features = self.readout(*(pick(part.transpose(0, 1), rows) for part in parts))
        return Decoded(self.dropout(features))

    def first_state(self, source: Tensor, source_lengths: Tensor) -> LSTMNState:
        memory, written = self.encode(source, source_lengths)
        return LSTMNState(sentences=source.shape[0], source=memory, written=written)

    def step(self, state: DecoderState, tokens: Tensor) -> DecoderStep:
        assert isinstance(state, LSTMNState)
        y = self.dropout(self.vocabulary.target(tokens))
        with scope(f"decoder/step {state.position}"):
            fused, state.written = self.decoder.step(y, state.written, state.source)
        state.position += 1
        features = self.dropout(self.readout(fused.state, y, fused.found))
        return DecoderStep(self.vocabulary.logits(features), fused.weights)
