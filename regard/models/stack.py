"""Body: from word vectors to what the network knows after each word, in any design."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Literal, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention import causal, padding
from regard.models.design import ATTENTIVE, DesignConfig
from regard.models.dropout import Dropout
from regard.models.layers import EncoderLayer, Positions, RealRows
from regard.models.translators.base import real
from regard.record import scope
from regard.recurrent import LSTMN, SelfAttentiveRNN, Tapes
from regard.recurrent.reader import Reader


class Features(NamedTuple):
    """What reading gives: ``features`` (B, n, width), and the state to read on from."""

    features: Tensor
    state: Tapes | None


class Body(nn.Module, ABC):
    """Reads word vectors (B, n, width). ``lengths`` (B,) says where the padding begins.

    What reads forwards need not be told: padding comes after all that is real, and cannot reach it.
    """

    @abstractmethod
    def forward(
        self, x: Tensor, lengths: Tensor | None = None, state: Tapes | None = None
    ) -> Features: ...


class Recurrence(Body):
    """The recurrent designs: a state for each word, after it and all before it were read."""

    def __init__(self, config: DesignConfig) -> None:
        super().__init__()
        attends = config.model in ATTENTIVE
        self.reader: Reader
        if config.model.startswith("simple-rnn"):
            self.reader = SelfAttentiveRNN(
                config.width,
                config.hidden,
                config.layers,
                form=cast(Literal["xc", "xch"], config.form or "xc"),
                score=cast(Literal["additive", "dot"], config.score or "additive"),
                batch_first=True,
                dropout=config.dropout,
                attention=attends,
                window=config.window or None,
            )
        else:
            self.reader = LSTMN(
                config.width,
                config.hidden,
                config.layers,
                batch_first=True,
                dropout=config.dropout,
                attention=attends,
                window=config.window or None,
            )

    def forward(
        self, x: Tensor, lengths: Tensor | None = None, state: Tapes | None = None
    ) -> Features:
        output, after, _ = self.reader(x, state)
        return Features(output, after)


class Stack(Body):
    """Transformer layers (Vaswani et al. 2017) over x = sqrt(d) E w + PE.

    ``forwards`` lets each word see itself and those before it (the decoder alone); otherwise each
    sees all (the encoder alone). Nothing is carried over from what was read before.
    """

    def __init__(self, config: DesignConfig, forwards: bool) -> None:
        super().__init__()
        self.forwards = forwards
        self.positions = Positions(config.width)
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Tensor, lengths: Tensor | None = None, state: Tapes | None = None
    ) -> Features:
        batch, n, width = x.shape
        some = None if lengths is None else real(lengths, n)
        rows = RealRows.of(some, batch, n)
        mask = None if some is None or lengths is None else padding(lengths, n)
        if self.forwards:  # what is behind a word, padding too, cannot reach it
            mask = causal()
        y = rows.gather(torch.add(self.positions(n), x, alpha=math.sqrt(width)))
        y = self.dropout(y)
        for index, layer in enumerate(self.layers):
            with scope(f"layer {index}"):
                y = layer(y, rows, mask)
        return Features(rows.spread(self.norm(y)), None)


def make_body(config: DesignConfig, *, forwards: bool = True) -> Body:
    """The body that ``config`` describes, with fresh weights from torch's random state."""
    return Stack(config, forwards) if config.model == "transformer" else Recurrence(config)
