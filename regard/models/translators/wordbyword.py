"""WordByWord: an RNN that says a target token for each source token, as it reads it.

What translation looked like before anybody let the reader finish the sentence: position t of the
output is said after source tokens 1 … t, with no look ahead, and nothing can be said after the
source has ended. The unit is the gated one, as in the other recurrent designs, so that a
comparison with them shows the design and not the unit.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.attention.kernel.recurrent import SAYING, PackedReader, PackedWriter
from regard.models.dropout import Dropout
from regard.models.padding import pick
from regard.models.translators.base import Decoded, DecoderState, DecoderStep
from regard.models.translators.config import TranslatorConfig
from regard.models.translators.maxout import Maxout
from regard.models.translators.native import NativeTranslator, PackedTranslator
from regard.models.translators.packing import readout_maps, unit_weights, word_tables
from regard.models.vocabulary import Vocabulary
from regard.pieces.tokenizer import EOS
from regard.record import note, recording, scope
from regard.recurrent import GatedUnit


@dataclass(kw_only=True)
class WordByWordState(DecoderState):
    """What the reader can say after each source token (sentences, S, width), and the lengths."""

    said: Tensor
    lengths: Tensor

    def select_sentences(self, rows: Tensor) -> None:
        self.said, self.lengths = self.said[rows], self.lengths[rows]

    def select_hypotheses(self, rows: Tensor) -> None:
        """Hypotheses have nothing of their own: what was said is not read."""


class WordByWord(NativeTranslator):
    """h_t = GatedUnit(E x_t, h_{t-1}),  p(y_t) = softmax(W_o maxout(U h_t + V E x_t)).

    The tokens said are not read back: ``target`` gives only the number of positions. Behind the
    source's end the only thing left to say is EOS.
    """

    KNOWN = (Dropout, GatedUnit, Maxout, Vocabulary, nn.Linear, nn.ModuleList)

    def __init__(self, config: TranslatorConfig) -> None:
        super().__init__(config)
        self.reader = GatedUnit(config.width, config.hidden)
        self.readout = Maxout((config.hidden, config.width), config.readout)

    def predictable(self, source_lengths: Tensor, predictions: Tensor) -> Tensor:
        """A target longer than its source cannot be said: its tokens beyond are not counted."""
        return torch.minimum(source_lengths, predictions)

    def forward(self, source: Tensor, source_lengths: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V); behind the source's end EOS is certain and all else is −inf."""
        logits = super().forward(source, source_lengths, target)
        position = torch.arange(target.shape[1], device=source.device)
        return _only_eos(logits, (position >= source_lengths.unsqueeze(-1)).unsqueeze(-1))

    def decode(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, rows: Tensor | None
    ) -> Decoded:
        n = target.shape[1]
        if n > source.shape[1]:
            source = torch.nn.functional.pad(source, (0, n - source.shape[1]))
        return Decoded(self._say(source[:, :n], rows))

    def _say(self, source: Tensor, rows: Tensor | None) -> Tensor:
        x = self.dropout(self.vocabulary.source(source.t())).transpose(0, 1)
        with scope("reader"):
            states = self.reader(x)
        return self.dropout(self.readout(pick(states, rows), pick(x, rows)))

    def packed(self, weights: str) -> PackedTranslator:
        source, target = word_tables(self.vocabulary)
        of_state, of_word = readout_maps(self.readout)
        said = {"from_state": [of_state], "from_word": [of_word]}
        out = {"out": [(self.vocabulary.output, self.vocabulary.bias)]}
        reader = PackedReader(SAYING, source, [unit_weights(self.reader)], said, weights)
        return PackedTranslator(reader, PackedWriter(SAYING, target, out, weights, end=EOS))

    def state_of(self, source: Tensor, source_lengths: Tensor) -> WordByWordState:
        said = self._say(source, None).view(*source.shape, -1)
        return WordByWordState(sentences=source.shape[0], said=said, lengths=source_lengths)

    def step_of(self, state: DecoderState, tokens: Tensor) -> DecoderStep:
        assert isinstance(state, WordByWordState)
        at = state.position
        ended = (at >= state.lengths).unsqueeze(-1)
        logits = self.vocabulary.logits(state.said[:, min(at, state.said.shape[1] - 1)])
        logits = _only_eos(logits, ended)
        # It looks at the word just read; at its end, at the last one.
        last = torch.clamp(state.lengths - 1, max=at)
        weights = torch.nn.functional.one_hot(last, state.said.shape[1]).to(logits.dtype)
        state.position += 1
        if recording():
            with scope(f"step {at}"):
                note(
                    "weights",
                    weights.unsqueeze(-2),
                    axes=("query", "key"),
                    formula="a[t,j] = 1 where j = t",
                    meaning="All it can look at is the word just read.",
                )
        return DecoderStep(_each(logits, state.beams), _each(weights, state.beams))


def _only_eos(logits: Tensor, where: Tensor) -> Tensor:
    """EOS certain (0) and everything else impossible (−inf) in the rows ``where``."""
    only = torch.full_like(logits[..., :1, :].flatten(0, -2)[0], -math.inf)
    only[EOS] = 0
    return torch.where(where, only, logits)


def _each(x: Tensor, beams: int) -> Tensor:
    return x if beams == 1 else x.repeat_interleave(beams, 0)
