"""A stack of Transformer layers as the kernel reads it."""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

from torch import Tensor, nn

from regard.attention.kernel.layout import LayerLayout, NetworkLayout, NormLayout, StackLayout
from regard.attention.kernel.weights import LinearMap, PackedNetwork

ACTIVATIONS = {"relu": 0, "silu": 1}


class StackLayer(NamedTuple):
    """The modules of one layer. Those that make queries, keys and values of the same vectors come
    together; an encoder's layer has no cross-attention."""

    own_norm: nn.LayerNorm
    own: Sequence[nn.Linear]
    own_out: nn.Linear
    cross_norm: nn.LayerNorm | None
    query: nn.Linear | None
    cross_out: nn.Linear | None
    inner_norm: nn.LayerNorm
    inner: nn.Linear
    outer: nn.Linear


class PackedStack(PackedNetwork):
    """The layers from words to the products ``out`` of the last one, as the kernel reads them."""

    def __init__(
        self,
        layers: Sequence[StackLayer],
        *,
        heads: int,
        before: bool,
        activation: str,
        words: Tensor,
        scale: float,
        last: nn.Module,
        out: Sequence[LinearMap],
        weights: str = "",
    ) -> None:
        super().__init__(weights)
        made = (LayerLayout * len(layers))(*(self._layer(layer) for layer in layers))
        self.kept += (made, words)
        self.width = words.shape[1]
        self.layout = StackLayout(
            layers=made,
            count=len(layers),
            width=self.width,
            heads=heads,
            before=before,
            activation=ACTIVATIONS[activation],
            last=self._norm(last),
            out=self.product(out),
            words=words.data_ptr(),
            scale=scale,
        )
        self.close(
            NetworkLayout(
                stack=ctypes.pointer(self.layout),
                vocabulary=words.shape[0],
                out=self.layout.out.out,
                kept=len(layers) * 2 * self.width,
            )
        )

    def _layer(self, layer: StackLayer) -> LayerLayout:
        made = LayerLayout()
        for name, part in zip(layer._fields, layer, strict=True):
            if isinstance(part, nn.LayerNorm):
                setattr(made, name, self._norm(part))
            elif part is not None:
                linears = [part] if isinstance(part, nn.Linear) else part
                setattr(made, name, self.product([(one.weight, one.bias) for one in linears]))
        return made

    def _norm(self, norm: nn.Module | None) -> NormLayout:
        if not isinstance(norm, nn.LayerNorm):
            return NormLayout()
        gamma, beta = (self.address(t.detach().clone()) for t in (norm.weight, norm.bias))
        return NormLayout(gamma, beta, norm.eps)
