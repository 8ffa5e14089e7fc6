"""Language model: the probability of each next word, given the words before it.

A sentence is read as BOS w_1 … w_n and predicted as w_1 … w_n EOS. Shapes::

    ids (B, n) token ids        logits (B, n, V): logits[:, t] scores the token after ids[:, t]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.models.config import TokenConfig, truth, whole
from regard.models.design import DesignConfig, shape
from regard.models.padding import check_batch, pick, real_rows
from regard.models.sequence import SequenceModel
from regard.models.stack import Features
from regard.models.vocabulary import Loss, linear_cross_entropy, word_vectors
from regard.pieces.tokenizer import PAD
from regard.recurrent import Tapes


@dataclass(frozen=True)
class LanguageConfig(DesignConfig, TokenConfig):
    """The shape of a language model."""

    tied: bool = False
    """Read words and predicted words share one matrix."""

    what = "a language model"

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        yield from whole("vocabulary", self.vocabulary, 5)
        yield from truth("tied", self.tied)


def sized(model: str, size: str, vocabulary: int, **changes: Any) -> LanguageConfig:
    """The config of design ``model`` in a named ``size``; ``changes`` replace single settings."""
    own = shape(model, size) | {"tied": size != "base", "dropout": 0.2}
    return LanguageConfig(model=model, vocabulary=vocabulary, **(own | changes))


class LanguageModel(SequenceModel):
    """p(w_t | w_1 … w_{t-1}) = softmax(W_o r_t + b).

    r_t is what the stack gives after word t − 1; if W_o is the words' own matrix (``tied``, Press &
    Wolf 2017) and of another width, then R times it. Dropout falls on the words' vectors, between
    layers and on r_t (Zaremba et al. 2014), never between one word's state and the next one's.
    """

    def __init__(self, config: LanguageConfig) -> None:
        super().__init__(config, config.vocabulary, forwards=True)
        self.config = config
        self.readout: nn.Module = nn.Identity()
        if config.tied and config.features != config.width:
            self.readout = nn.Linear(config.features, config.width)
        self.output: nn.Parameter | None = None
        if not config.tied:
            self.output = word_vectors(config.vocabulary, config.features)
        self.bias = nn.Parameter(torch.zeros(config.vocabulary))

    def features(self, ids: Tensor, state: Tapes | None = None) -> Features:
        """What the next word is predicted from, after each of ``ids`` (B, n): (B, n, width)."""
        assert self.body is not None
        read, after = self.body(self.embed(ids), None, state)
        return Features(self.dropout(self.readout(read)), after)

    def logits(self, features: Tensor) -> Tensor:
        """Scores (..., V) of every token."""
        return F.linear(features, self._matrix(), self.bias)

    def forward(self, ids: Tensor, state: Tapes | None = None) -> Tensor:
        """Logits (B, n, V), each from the tokens up to its own position."""
        return self.logits(self.features(ids, state).features)

    def following(self, ids: Tensor, lengths: Tensor) -> Tensor:
        """Logits (B, V) of the token after the last of each row; ``lengths`` (B,) say which that
        is, what stands behind it is padding."""
        check_batch(ids, lengths)
        read = self.features(ids).features
        return self.logits(read[torch.arange(len(ids), device=ids.device), lengths - 1])

    def loss(self, ids: Tensor, lengths: Tensor, smoothing: float = 0.0) -> Loss:
        """The sum of the cross-entropies of ids[:, 1:], padding left out, and their number.

        ``ids`` (B, n) are BOS … EOS, padded behind; ``lengths`` (B,) count both. Nothing tells
        the stack of the padding: it comes after all that is real.
        """
        check_batch(ids, lengths)
        features = self.features(ids[:, :-1]).features
        rows = real_rows(lengths - 1, ids.shape[1] - 1)
        targets = ids[:, 1:].flatten() if rows is None else ids[:, 1:].flatten()[rows]
        return Loss(self._loss(pick(features, rows), targets, smoothing), targets.shape[0])

    def stream_loss(
        self, ids: Tensor, targets: Tensor, state: Tapes | None, smoothing: float = 0.0
    ) -> tuple[Tensor, Tapes | None]:
        """The sum of the cross-entropies of ``targets`` (B, n), each following its token of
        ``ids`` (B, n), and the state to read on from. A target PAD is none."""
        features, after = self.features(ids, state)
        rows = (targets.flatten() != PAD).nonzero().squeeze(-1)
        return self._loss(pick(features, rows), targets.flatten()[rows], smoothing), after

    def _loss(self, features: Tensor, targets: Tensor, smoothing: float) -> Tensor:
        return linear_cross_entropy(features, self._matrix(), self.bias, targets, smoothing)

    def _matrix(self) -> Tensor:
        return self.words if self.output is None else self.output
