"""BERT: a Transformer's encoder alone, as a model that reads text (Devlin et al. 2019).

    x = norm(E w + P + T)                              word, learned position, token type
    layer:  x = norm(x + attention(x)),  x = norm(x + W_2 gelu(W_1 x + b_1) + b_2)

Each layer's norm comes after its sum (Vaswani et al. 2017, section 3.1). file.py reads the
weights of published models; the attention is regard's own, and can be recorded and observed.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import Mask, MultiHeadAttention
from regard.errors import RegardError, ShapeError
from regard.models.bert.config import BertConfig
from regard.models.dropout import Dropout
from regard.record import note, scope

AXES = ("position", "width")


class BertOutput(NamedTuple):
    """What the encoder makes of a text."""

    last: Tensor
    """(..., n, width): each token's vector after the last layer."""
    hidden: tuple[Tensor, ...]
    """The vectors before the first layer and after each: layers + 1 of (..., n, width)."""
    weights: tuple[Tensor, ...] | None
    """Of each layer (..., heads, n, n), if asked for."""


class BertEncoder(nn.Module):
    """Token ids in, a vector for each token out."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.config = config
        self.embedding = BertEmbedding(config)
        self.layers = nn.ModuleList(BertLayer(config) for _ in range(config.layers))

    def forward(
        self,
        ids: Tensor,
        *,
        types: Tensor | None = None,
        mask: Mask | Tensor | None = None,
        need_weights: bool = False,
    ) -> BertOutput:
        """``ids`` (n,) or (batch, n); ``types`` the same shape (all 0 if not given).

        ``mask`` says what may be attended to; for a padded batch ``padding(lengths)``.
        """
        hidden, weights = [self.embedding(ids, types)], []
        for index, layer in enumerate(self.layers):
            with scope(f"layer {index}"):
                x, seen = layer(hidden[-1], mask, need_weights)
            hidden.append(x)
            weights.append(seen)
        return BertOutput(hidden[-1], tuple(hidden), tuple(weights) if need_weights else None)

    def attention(self, layer: int) -> MultiHeadAttention:
        """The attention of a layer, from 0."""
        found = self.layers[layer]
        assert isinstance(found, BertLayer)
        return found.attention


class BertEmbedding(nn.Module):
    """x = norm(E w + P + T): what the token is, where it stands, which text it belongs to."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.words = _table(config.vocabulary, config.width)
        self.positions = _table(config.positions, config.width)
        self.types = _table(config.types, config.width)
        self.norm = nn.LayerNorm(config.width, config.epsilon)
        self.dropout = Dropout(config.dropout)

    def forward(self, ids: Tensor, types: Tensor | None) -> Tensor:
        """(..., n) → (..., n, width)."""
        self._check(ids, types)
        positions = self.positions.weight[: ids.shape[-1]]
        words = self.words(ids).to(positions.dtype)  # the largest table may be kept narrower
        kinds = self.types(torch.zeros_like(ids) if types is None else types)
        x: Tensor = self.norm(words + positions + kinds)
        for name, value, formula, meaning in (
            ("word_vectors", words, "E w_i", "What each token is, wherever it stands."),
            ("position_vectors", positions, "P_i", "Where each token stands (learned)."),
            ("type_vectors", kinds, "T_i", "Which text of a pair each token belongs to."),
            (
                "embedding",
                x,
                "norm(E w_i + P_i + T_i)",
                "Their sum, brought to mean 0 and variance 1, then scaled and shifted.",
            ),
        ):
            note(name, value, axes=AXES, formula=formula, meaning=meaning)
        return self.dropout(x)

    def _check(self, ids: Tensor, types: Tensor | None) -> None:
        if ids.dtype != torch.int64 or ids.dim() not in (1, 2):
            raise ShapeError(
                f"token ids must be int64, (n,) or (batch, n), got {ids.dtype}, {tuple(ids.shape)}"
            )
        if types is not None and types.shape != ids.shape:
            raise ShapeError(
                f"each token has one type: got ids {tuple(ids.shape)}, types {tuple(types.shape)}"
            )
        most = self.positions.num_embeddings
        if ids.shape[-1] > most:
            raise RegardError(
                f"this model knows {most} positions, the text has {ids.shape[-1]} tokens; "
                "cut it into parts"
            )


class BertLayer(nn.Module):
    """Self-attention and feed-forward, each added to what it was given and then normed."""

    def __init__(self, config: BertConfig) -> None:
        super().__init__()
        self.attention = MultiHeadAttention(config.width, config.heads, dropout=config.dropout)
        self.attention_norm = nn.LayerNorm(config.width, config.epsilon)
        self.inner = nn.Linear(config.width, config.feedforward)
        self.outer = nn.Linear(config.feedforward, config.width)
        self.feedforward_norm = nn.LayerNorm(config.width, config.epsilon)
        self.dropout = Dropout(config.dropout)

    def forward(
        self, x: Tensor, mask: Mask | Tensor | None, need_weights: bool
    ) -> tuple[Tensor, Tensor | None]:
        """(..., n, width) → the same, and the weights (..., heads, n, n) if wanted."""
        with scope("self-attention"):
            attended, weights = self.attention(x, mask=mask, need_weights=need_weights)
        x = self.attention_norm(x + self.dropout(attended))
        note(
            "attended",
            x,
            axes=AXES,
            formula="norm(x_i + y_i)",
            meaning="What attention found, added to what was there.",
        )
        x = self.feedforward_norm(x + self.dropout(self.outer(F.gelu(self.inner(x)))))
        note(
            "hidden",
            x,
            axes=AXES,
            formula="norm(x_i + W_2 gelu(W_1 x_i + b_1) + b_2)",
            meaning="Each position worked on by itself: what the next layer is given.",
        )
        return x, weights


def _table(rows: int, width: int) -> nn.Embedding:
    """Small random vectors to begin with.

    None are drawn on the meta device (a model that is about to be loaded): there is nothing to
    draw, and PyTorch would take seconds to find out.
    """
    weight = torch.empty(rows, width)
    if not weight.is_meta:
        weight.normal_(std=0.02)
    return nn.Embedding(rows, width, _weight=weight)
