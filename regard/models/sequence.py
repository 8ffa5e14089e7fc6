"""Sequence model: what models of sequences share, the vectors of pieces and a network.

pieces → vectors      of tokens by ``embed``; of other pieces by whatever makes theirs
vectors → features    by the stack of the design, whatever the vectors stand for
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.errors import ConfigError
from regard.models.design import STILL, DesignConfig
from regard.models.dropout import Dropout
from regard.models.positions import Positions
from regard.models.stack import Stack, build_stack
from regard.models.vocabulary import word_vectors


class SequenceModel(nn.Module):
    """Vectors of ``vocabulary`` tokens, if it is not 0, and the stack of a design.

    A design without a stack, such as "words", leaves the vectors as they are.
    """

    words: nn.Parameter
    """E (vocabulary, width), of a model that reads tokens."""
    body: Stack | None
    """The stack; saved weights know it by this name."""

    def __init__(self, config: DesignConfig, vocabulary: int, *, forwards: bool) -> None:
        super().__init__()
        if vocabulary:
            self.words = word_vectors(vocabulary, config.width)
        self.body = None if config.model in STILL else build_stack(config, forwards=forwards)
        self.positions = Positions(config.width) if config.model == "transformer" else None
        self.dropout = Dropout(config.dropout)

    @property
    def device(self) -> torch.device:
        """Where the weights are."""
        return next(self.parameters()).device

    def embed(self, ids: Tensor) -> Tensor:
        """The vectors (B, n, width) of the tokens ``ids`` (B, n): E w.

        Of a Transformer sqrt(d) E w + PE: attention alone does not know who stands where.
        """
        if not hasattr(self, "words"):
            raise ConfigError("this model has no vocabulary: give it vectors, not token ids")
        x = self.dropout(F.embedding(ids, self.words))
        return x if self.positions is None else self.positions(x)
