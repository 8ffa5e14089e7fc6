"""Translator: what all designs have in common, so that one engine trains and uses them.

Sources end with EOS; targets are BOS … EOS; both are padded with PAD behind their end. Shapes::

    source (B, S) token ids     source_lengths (B,)
    target (B, T) token ids     logits (B, T, V): logits[:, t] scores target[:, t + 1]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple

import torch
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.models.dropout import Dropout
from regard.models.padding import check_batch, real_rows
from regard.models.translators.config import TranslatorConfig
from regard.models.translators.pointer import (
    Copied,
    Pointed,
    Pointer,
    copy_shares,
    log_mixture,
    mixture_loss,
    without_unknown,
)
from regard.models.vocabulary import Loss, Vocabulary
from regard.trace import Array


class Decoded(NamedTuple):
    """What a decoder knows at n positions: the ``features`` (n, width) that the vocabulary is
    scored from and, with a pointer, where each position points."""

    features: Tensor
    pointed: Pointed | None = None


class DecoderStep(NamedTuple):
    """One decoding step of N hypotheses: ``logits`` (N, V) of the next token and, if the design
    looks at the source, the ``weights`` (N, S) with which it did."""

    logits: Tensor
    weights: Tensor | None


class Hypothesis(NamedTuple):
    """One translation."""

    ids: list[int]
    """Its tokens, without BOS and EOS."""
    score: float
    """log p / length^length_penalty, the length with EOS."""
    weights: Tensor | None
    """Where the model looked before each token and before EOS: (len(ids) + 1, source tokens), or
    None if the design does not look; (len(ids), …) if not finished."""
    finished: bool
    """Whether it ended with EOS, not by ``max_length``."""


class SearchOptions(NamedTuple):
    """What a beam search is asked for, as :func:`~regard.models.translators.beam.hypotheses`."""

    beam: int
    best: int
    length_penalty: float
    layer: int | None
    head: int | None


@dataclass(kw_only=True)
class DecoderState(ABC):
    """Where the decoding of N = sentences × beams hypotheses stands.

    What belongs to a sentence (the encoder's memory) is held once, not once for each hypothesis:
    hypotheses stand in ``beams`` rows per sentence, one sentence after the other.
    """

    sentences: int
    beams: int = 1
    position: int = 0
    """How many tokens have been read."""
    layer: int | None = None
    """Whose cross-attention's weights :meth:`Translator.step` returns; None = the last layer's."""
    head: int | None = None
    """Of which head; None = the mean over all."""
    source_tokens: Tensor | None = None
    """The sources' tokens (sentences, S), if there is a pointer."""

    def select(self, rows: Tensor) -> None:
        """Keep these hypotheses, in this order: ``rows`` (N',) of the present ones.

        ``rows`` (sentences', beams') says more: each line's hypotheses belong to one sentence,
        and then share its memory.
        """
        lines = rows if rows.dim() == 2 else rows.unsqueeze(-1)
        owners = lines[:, 0] // self.beams
        same = torch.arange(self.sentences, device=rows.device)
        if not torch.equal(owners, same):
            self.select_sentences(owners)
            if self.source_tokens is not None:
                self.source_tokens = self.source_tokens[owners]
        self.select_hypotheses(lines)
        self.sentences, self.beams = lines.shape

    def sources(self) -> Tensor:
        """The source's tokens (N, S) of each hypothesis."""
        assert self.source_tokens is not None
        return self.source_tokens.repeat_interleave(self.beams, 0)

    @abstractmethod
    def select_sentences(self, rows: Tensor) -> None:
        """Keep these sentences' memory."""

    @abstractmethod
    def select_hypotheses(self, rows: Tensor) -> None:
        """Keep these hypotheses' own states; ``rows`` (sentences', beams')."""


class Translator(nn.Module, ABC):
    """A model of p(target | source). The designs differ in :meth:`decode` and :meth:`step`."""

    def __init__(self, config: TranslatorConfig) -> None:
        super().__init__()
        self.config = config
        self.vocabulary = Vocabulary(
            config.vocabulary, config.width, config.readout or config.width, tied=config.tied
        )
        self.dropout = Dropout(config.dropout)
        self.pointer: Pointer | None = None

    def forward(self, source: Tensor, source_lengths: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V), each from the source and ``target`` up to its own position."""
        check_batch(source, source_lengths)
        decoded = self.decode(source, source_lengths, target, None)
        return self.scores(decoded).view(*target.shape, -1)

    def scores(self, decoded: Decoded) -> Tensor:
        """Logits (n, V) of the next token; with a pointer, its log p."""
        logits = self._logits(decoded)
        return logits if decoded.pointed is None else log_mixture(logits, decoded.pointed)

    def _logits(self, decoded: Decoded) -> Tensor:
        """What the vocabulary says, before anything is copied."""
        logits = self.vocabulary.logits(decoded.features)
        pointed = decoded.pointed
        return logits if pointed is None else without_unknown(logits, pointed.source)

    def loss(
        self,
        source: Tensor,
        source_lengths: Tensor,
        target: Tensor,
        target_lengths: Tensor,
        smoothing: float = 0.0,
    ) -> Loss:
        """The sum of the cross-entropies of target[:, 1:], padding left out, and their number.

        ``target_lengths`` count BOS and EOS. Only real positions meet the vocabulary.
        """
        check_batch(source, source_lengths)
        inputs, right = target[:, :-1], target[:, 1:]
        lengths = self.predictable(source_lengths, target_lengths - 1)
        rows = real_rows(lengths, inputs.shape[1])
        decoded = self.decode(source, source_lengths, inputs, rows)
        wanted = right.flatten() if rows is None else right.flatten()[rows]
        if decoded.pointed is None:
            total = self.vocabulary.loss(decoded.features, wanted, smoothing)
        else:
            total = mixture_loss(self._logits(decoded), decoded.pointed, wanted, smoothing)
        return Loss(total, wanted.shape[0])

    def copies(self, source: Tensor, source_lengths: Tensor, target: Tensor) -> Copied | None:
        """With a pointer, what of target[:, 1:] it copies from the source when it says that."""
        decoded, said = self.decode(source, source_lengths, target[:, :-1], None), target[:, 1:]
        if decoded.pointed is None:
            return None
        shares = copy_shares(self._logits(decoded), decoded.pointed, said.flatten())
        return Copied(decoded.pointed.gate.sigmoid().view(said.shape), shares.view(*said.shape, -1))

    def predictable(self, source_lengths: Tensor, predictions: Tensor) -> Tensor:
        """How many of each sentence's ``predictions`` (B,) this design can make: all of them."""
        return predictions

    @abstractmethod
    def decode(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, rows: Tensor | None
    ) -> Decoded:
        """What the next token is scored from, after each token of ``target`` (B, T).

        Of B · T positions, or, given ``rows`` into these, only those: the others are padding.
        """

    def start(
        self,
        source: Tensor,
        source_lengths: Tensor,
        *,
        layer: int | None = None,
        head: int | None = None,
    ) -> DecoderState:
        """Read the sources: the state in which each has one hypothesis that is still empty.

        ``layer`` and ``head`` choose whose weights :meth:`step` returns (Transformer only).
        """
        check_batch(source, source_lengths)
        self.check_head(layer, head)
        state = self.first_state(source, source_lengths)
        state.layer, state.head = layer, head
        state.source_tokens = None if self.pointer is None else source
        return state

    def search(
        self, source: Tensor, source_lengths: Tensor, limits: Array, wanted: SearchOptions
    ) -> list[list[Hypothesis]] | None:
        """The best hypotheses of each source, at most ``limits`` (B,) tokens long, where that can
        be had in one go; None where a search takes its steps one by one."""
        return None

    def check_head(self, layer: int | None, head: int | None) -> None:
        """Raise if this layer or head is not there to choose."""
        if layer is not None or head is not None:
            raise ConfigError(
                f"{self.config.model} has no layers or heads to choose from: leave them out"
            )

    @abstractmethod
    def first_state(self, source: Tensor, source_lengths: Tensor) -> DecoderState:
        """The state that :meth:`start` gives, of a batch that was checked."""

    @abstractmethod
    def step(self, state: DecoderState, tokens: Tensor) -> DecoderStep:
        """Read one more token of each hypothesis (N,), BOS first; scores of the next one."""
