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

from regard.errors import ConfigError, DataError
from regard.models.config import MODELS, TranslatorConfig
from regard.models.dropout import Dropout
from regard.models.translators.sizes import SIZES, sized
from regard.models.vocabulary import Vocabulary

__all__ = [
    "MODELS",
    "SIZES",
    "DecoderState",
    "DecoderStep",
    "Loss",
    "Translator",
    "TranslatorConfig",
    "build",
    "sized",
]


class Loss(NamedTuple):
    """The ``total`` cross-entropy of ``tokens`` predicted tokens; their mean is total / tokens."""

    total: Tensor
    tokens: int


class DecoderStep(NamedTuple):
    """One decoding step of N hypotheses: ``logits`` (N, V) of the next token and, if the design
    looks at the source, the ``weights`` (N, S) with which it did."""

    logits: Tensor
    weights: Tensor | None


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
        self.select_hypotheses(lines)
        self.sentences, self.beams = lines.shape

    @abstractmethod
    def select_sentences(self, rows: Tensor) -> None:
        """Keep these sentences' memory."""

    @abstractmethod
    def select_hypotheses(self, rows: Tensor) -> None:
        """Keep these hypotheses' own states; ``rows`` (sentences', beams')."""


class Translator(nn.Module, ABC):
    """A model of p(target | source). The designs differ in :meth:`features` and :meth:`step`."""

    def __init__(self, config: TranslatorConfig) -> None:
        super().__init__()
        self.config = config
        self.vocabulary = Vocabulary(
            config.vocabulary, config.width, config.readout or config.width, tied=config.tied
        )
        self.dropout = Dropout(config.dropout)

    def forward(self, source: Tensor, source_lengths: Tensor, target: Tensor) -> Tensor:
        """Logits (B, T, V), each from the source and ``target`` up to its own position."""
        check_source(source, source_lengths)
        features = self.features(source, source_lengths, target, None)
        return self.vocabulary.logits(features).view(*target.shape, -1)

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
        check_source(source, source_lengths)
        inputs, right = target[:, :-1], target[:, 1:]
        lengths = self.predictable(source_lengths, target_lengths - 1)
        rows = real(lengths, inputs.shape[1])
        features = self.features(source, source_lengths, inputs, rows)
        wanted = right.flatten() if rows is None else right.flatten()[rows]
        return Loss(self.vocabulary.loss(features, wanted, smoothing), wanted.shape[0])

    def predictable(self, source_lengths: Tensor, predictions: Tensor) -> Tensor:
        """How many of each sentence's ``predictions`` (B,) this design can make: all of them."""
        return predictions

    @abstractmethod
    def features(
        self, source: Tensor, source_lengths: Tensor, target: Tensor, rows: Tensor | None
    ) -> Tensor:
        """What the vocabulary is scored from, after each token of ``target`` (B, T).

        (B · T, width), or, given ``rows`` into these, only those: the others are padding.
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
        check_source(source, source_lengths)
        self.choose(layer, head)
        return self.read(source, source_lengths, layer, head)

    def choose(self, layer: int | None, head: int | None) -> None:
        """Raise if this layer or head is not there to choose."""
        if layer is not None or head is not None:
            raise ConfigError(
                f"{self.config.model} has no layers or heads to choose from: leave them out"
            )

    @abstractmethod
    def read(
        self, source: Tensor, source_lengths: Tensor, layer: int | None, head: int | None
    ) -> DecoderState:
        """The state that :meth:`start` gives, of arguments that were checked."""

    @abstractmethod
    def step(self, state: DecoderState, tokens: Tensor) -> DecoderStep:
        """Read one more token of each hypothesis (N,), BOS first; scores of the next one."""


def build(config: TranslatorConfig) -> Translator:
    """The translator that ``config`` describes, with fresh weights from torch's random state."""
    from regard.models.translators.bahdanau import Bahdanau
    from regard.models.translators.encoderdecoder import EncoderDecoder
    from regard.models.translators.lstmn import LSTMNTranslator
    from regard.models.translators.transformer import Transformer
    from regard.models.translators.wordbyword import WordByWord

    designs: dict[str, type[Translator]] = {
        "word-by-word": WordByWord,
        "encoder-decoder": EncoderDecoder,
        "bahdanau": Bahdanau,
        "lstmn-shallow": LSTMNTranslator,
        "lstmn-deep": LSTMNTranslator,
        "transformer": Transformer,
    }
    return designs[config.model](config)


def real(lengths: Tensor, n: int) -> Tensor | None:
    """Which of B · n positions are within their row's ``lengths`` (B,); None = all of them."""
    if int(lengths.min()) >= n:
        return None
    inside = torch.arange(n, device=lengths.device) < lengths.unsqueeze(-1)
    return inside.flatten().nonzero().squeeze(-1)


def pick(x: Tensor, rows: Tensor | None) -> Tensor:
    """(B, T, width) → (B · T, width), or only its ``rows``."""
    flat = x.flatten(0, 1)
    return flat if rows is None else flat.index_select(0, rows)


def check_source(source: Tensor, lengths: Tensor) -> None:
    """Raise unless every source has at least one token and lies within its padded row."""
    if source.dim() != 2 or not source.shape[0] or lengths.shape != source.shape[:1]:
        raise DataError(
            "a batch is source (sentences, tokens) with one length a sentence, at least one "
            f"sentence; got {tuple(source.shape)} and lengths {tuple(lengths.shape)}"
        )
    least, most = int(lengths.min()), int(lengths.max())
    if least < 1 or most > source.shape[1]:
        raise DataError(
            "a source has at least one token (EOS) and at most the batch's "
            f"{source.shape[1]}; got lengths from {least} to {most}"
        )
