"""Stack: from vectors to what the network knows at each of them, in any design.

What the vectors stand for (tokens, patches of an image, steps of a series), and where they stand,
is in them already: see sequence.py.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Literal, NamedTuple, cast

import torch
from torch import Tensor, nn

from regard.attention import causal, padding
from regard.models.design import ATTENTIVE, DesignConfig
from regard.models.dropout import Dropout
from regard.models.layers import EncoderLayer
from regard.models.padding import RealRows, real_rows
from regard.record import scope
from regard.recurrent import LSTMN, SelfAttentiveRNN, Tapes
from regard.recurrent.reader import Reader


class Features(NamedTuple):
    """What reading gives: ``features`` (B, n, width), and the state to read on from."""

    features: Tensor
    state: Tapes | None


class Stack(nn.Module, ABC):
    """Layers that read vectors (B, n, width). ``lengths`` (B,) says where the padding begins.

    What reads forwards need not be told: padding comes after all that is real, and cannot reach it.
    """

    @abstractmethod
    def forward(
        self, x: Tensor, lengths: Tensor | None = None, state: Tapes | None = None
    ) -> Features: ...


class RecurrentStack(Stack):
    """The recurrent designs: a state for each vector, after it and all before it were read."""

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
                recency=config.recency or None,
            )

    def forward(
        self, x: Tensor, lengths: Tensor | None = None, state: Tapes | None = None
    ) -> Features:
        output, after, _ = self.reader(x, state)
        return Features(output, after)


class TransformerStack(Stack):
    """Transformer layers (Vaswani et al. 2017) over vectors that know their places.

    ``forwards`` lets each vector see itself and those before it (the decoder alone); otherwise each
    sees all (the encoder alone). Nothing is carried over from what was read before.
    """

    def __init__(self, config: DesignConfig, forwards: bool) -> None:
        super().__init__()
        self.forwards = forwards
        self.layers = nn.ModuleList(EncoderLayer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.width) if config.norm == "pre" else nn.Identity()
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Tensor, lengths: Tensor | None = None, state: Tapes | None = None
    ) -> Features:
        batch, n, _ = x.shape
        some = None if lengths is None else real_rows(lengths, n)
        rows = RealRows.of(some, batch, n)
        mask = None if some is None or lengths is None else padding(lengths, n)
        if self.forwards:  # what is behind a vector, padding too, cannot reach it
            mask = causal()
        y = self.dropout(rows.gather(x))
        for index, layer in enumerate(self.layers):
            with scope(f"layer {index}"):
                y = layer(y, rows, mask)
        return Features(rows.spread(self.norm(y)), None)


class ConvStack(Stack):
    """Convolutions: each vector and its nearest neighbours, two further with every layer.

    The vectors stand in a row; or row by row in a grid with ``config.across`` of them in each,
    whose neighbours are those above and below too.
    """

    def __init__(self, config: DesignConfig) -> None:
        super().__init__()
        self.across = config.across
        near = (3, 3) if config.across else (1, 3)
        widths = [config.width] + [config.hidden] * config.layers
        self.layers = nn.ModuleList(
            nn.Conv2d(*both, near, padding="same") for both in pairwise(widths)
        )
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Tensor, lengths: Tensor | None = None, state: Tapes | None = None
    ) -> Features:
        n = x.shape[1]
        inside = None
        if lengths is not None:  # what stands behind the end is no neighbour
            inside = torch.arange(n, device=x.device) < lengths.unsqueeze(-1)
        for layer in self.layers:
            kept = x if inside is None else x * inside.unsqueeze(-1)
            grid = kept.mT.unflatten(-1, (-1, self.across or n))
            x = self.dropout(torch.relu(layer(grid))).flatten(2).mT
        return Features(x, None)


def build_stack(config: DesignConfig, *, forwards: bool = True) -> Stack:
    """The stack that ``config`` describes, with fresh weights from torch's random state."""
    if config.model == "transformer":
        return TransformerStack(config, forwards)
    if config.model == "conv":
        return ConvStack(config)
    return RecurrentStack(config)
