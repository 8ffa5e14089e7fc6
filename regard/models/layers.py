"""Layers of the Transformer: attention and feed-forward, each added to what it was given.

Between attentions a batch is held as rows (tokens, width) without its padding; only attention,
which must know who stands in one sentence, sees it as (batch, n, width).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention import Attended, KeyValueCache, Mask, MultiHeadAttention, causal
from regard.models.dropout import Dropout
from regard.models.norm import LayerNorm
from regard.models.padding import RealRows
from regard.record import note, recording, scope


class LayerConfig(Protocol):
    """What a layer must know of a model's config."""

    @property
    def width(self) -> int: ...

    @property
    def heads(self) -> int: ...

    @property
    def feedforward(self) -> int: ...

    @property
    def norm(self) -> str: ...

    @property
    def dropout(self) -> float: ...


ACTIVATIONS: dict[str, Callable[[Tensor], Tensor]] = {"relu": torch.relu_, "silu": F.silu}
"""By their names in a config: max(0, x), and x / (1 + exp(−x))."""
_INNER = ("position", "inner")


class FeedForward(nn.Module):
    """y = W_2 f(W_1 x + b_1) + b_2, at each position (Vaswani et al. 2017, section 3.3).

    f is relu there; what other libraries trained may have another one.
    """

    def __init__(self, width: int, inner: int, activation: str = "relu") -> None:
        super().__init__()
        self.activation = ACTIVATIONS[activation]
        self.inner, self.outer = nn.Linear(width, inner), nn.Linear(inner, width)
        for linear in (self.inner, self.outer):
            nn.init.xavier_uniform_(linear.weight)
            nn.init.zeros_(linear.bias)

    def forward(self, x: Tensor) -> Tensor:
        inner: Tensor = self.inner(x)
        if not recording():
            y: Tensor = self.outer(self.activation(inner))
            return y
        f = "max(0, W_1 x + b_1)" if self.activation is torch.relu_ else "f(W_1 x + b_1)"
        note("inner", inner, axes=_INNER, formula="W_1 x + b_1",
             meaning="Each vector in the width between the two matrices.")  # fmt: skip
        activated = self.activation(inner)
        note("activated", activated, axes=_INNER, formula=f,
             meaning="What keeps two matrices from being one.")  # fmt: skip
        y = self.outer(activated)
        note("output", y, axes=("position", "width"), formula=f"W_2 {f} + b_2",
             meaning="Back in the width of a vector.")  # fmt: skip
        return y


def add(x: Tensor, y: Tensor) -> Tensor:
    """x + y, the residual connection (He et al. 2016): a sublayer's output joins its input."""
    added = x + y
    note(
        "residual",
        added,
        axes=("position", "width"),
        formula="x + sublayer(x)",
        meaning="What the sublayer says is added to what was there.",
    )
    return added


class TransformerLayer(nn.Module):
    """What both kinds of layer share: how a sublayer joins the stream."""

    def __init__(self, config: LayerConfig, activation: str = "relu") -> None:
        super().__init__()
        self.before = config.norm == "pre"
        self.attention = MultiHeadAttention(config.width, config.heads)
        self.attention_norm = LayerNorm(config.width)
        self.feedforward = FeedForward(config.width, config.feedforward, activation)
        self.feedforward_norm = LayerNorm(config.width)
        self.dropout = Dropout(config.dropout)

    def join(self, x: Tensor, norm: nn.Module, sublayer: Callable[[Tensor], Tensor]) -> Tensor:
        """norm(x + sublayer(x)), or x + sublayer(norm(x)) if the norm comes before."""
        joined: Tensor = norm(x) if self.before else x
        joined = add(x, self.dropout(sublayer(joined)))
        return joined if self.before else norm(joined)


class EncoderLayer(TransformerLayer):
    """Self-attention and feed-forward."""

    def forward(self, x: Tensor, rows: RealRows, mask: Mask | None) -> Tensor:
        """``x`` (tokens, width) → the same; ``mask`` leaves out the padding."""

        def attention(x: Tensor) -> Tensor:
            return rows.gather(self.attention(rows.spread(x), mask=mask).context)

        with scope("self-attention"):
            x = self.join(x, self.attention_norm, attention)
        with scope("feed-forward"):
            return self.join(x, self.feedforward_norm, self.feedforward)


class DecoderLayer(TransformerLayer):
    """Causal self-attention, cross-attention to the encoder's memory, feed-forward."""

    def __init__(self, config: LayerConfig, activation: str = "relu") -> None:
        super().__init__(config, activation)
        self.cross = MultiHeadAttention(config.width, config.heads)
        self.cross_norm = LayerNorm(config.width)

    def forward(
        self,
        x: Tensor,
        rows: RealRows,
        memory: Tensor,
        mask: Mask | None,
        looked: list[Tensor] | None = None,
    ) -> Tensor:
        """``x`` (tokens, width) → the same; ``memory`` (B, S, width) with its padding's mask.

        To ``looked``, if it is given, the cross-attention's weights (B, heads, n, S) are added.
        """

        def attention(x: Tensor) -> Tensor:
            return rows.gather(self.attention(rows.spread(x), mask=causal()).context)

        def cross(x: Tensor) -> Tensor:
            wanted = looked is not None
            found = self.cross(rows.spread(x), memory, mask=mask, need_weights=wanted)
            if looked is not None:
                looked.append(found.weights)
            return rows.gather(found.context)

        with scope("self-attention"):
            x = self.join(x, self.attention_norm, attention)
        with scope("cross-attention"):
            x = self.join(x, self.cross_norm, cross)
        with scope("feed-forward"):
            return self.join(x, self.feedforward_norm, self.feedforward)

    def step(
        self,
        x: Tensor,
        own: Mask,
        memory: Tensor,
        mask: Mask | None,
        caches: tuple[KeyValueCache, KeyValueCache],
        *,
        need_weights: bool,
    ) -> tuple[Tensor, Tensor | None]:
        """One more token of each hypothesis (sentences, beams, width), and the cross-attention's
        weights (sentences, heads, beams, S) if wanted.

        A sentence's hypotheses ask together, each as one query: ``own`` says which of the written
        tokens each may see, ``mask`` which of the source are padding.
        """
        seen: list[Tensor | None] = []

        def attention(x: Tensor) -> Tensor:
            attended: Attended = self.attention(x, mask=own, cache=caches[0])
            return attended.context

        def cross(x: Tensor) -> Tensor:
            x, weights = self.cross(
                x, memory, mask=mask, cache=caches[1], need_weights=need_weights
            )
            seen.append(weights)
            return x

        with scope("self-attention"):
            x = self.join(x, self.attention_norm, attention)
        with scope("cross-attention"):
            x = self.join(x, self.cross_norm, cross)
        with scope("feed-forward"):
            return self.join(x, self.feedforward_norm, self.feedforward), seen[0]
