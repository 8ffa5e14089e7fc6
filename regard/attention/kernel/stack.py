"""Run the kernel's stack of Transformer layers: its weights laid out, its rows.

Weights are copied once, in the order in which a product reads them; the structures hold addresses,
so whatever they point to is kept beside them.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.kernel.layout import LayerLayout, NormLayout, ProductLayout, StackLayout

PANEL = 16
"""Outputs of a product whose weights stand beside each other; the same in stack.h."""
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


class PackedStack:
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
        out: Sequence[tuple[Tensor, Tensor]],
    ) -> None:
        self.kept: list[object] = []
        made = (LayerLayout * len(layers))(*(self._layer(layer) for layer in layers))
        self.kept += (made, words)
        self.words, self.width = words, words.shape[1]
        self.layout = StackLayout(
            layers=made,
            count=len(layers),
            width=self.width,
            heads=heads,
            before=before,
            activation=ACTIVATIONS[activation],
            last=self._norm(last),
            out=self._product(out),
            words=words.data_ptr(),
            vocabulary=words.shape[0],
            scale=scale,
        )
        self.pointer = ctypes.pointer(self.layout)

    def set_positions(self, table: Tensor) -> None:
        """The vectors (positions, width) that are added to words, from now on."""
        self.positions = table
        self.layout.positions = table.data_ptr()

    def _layer(self, layer: StackLayer) -> LayerLayout:
        made = LayerLayout()
        for name, part in zip(layer._fields, layer, strict=True):
            if isinstance(part, nn.LayerNorm):
                setattr(made, name, self._norm(part))
            elif part is not None:
                linears = [part] if isinstance(part, nn.Linear) else part
                setattr(made, name, self._product([(one.weight, one.bias) for one in linears]))
        return made

    def _norm(self, norm: nn.Module | None) -> NormLayout:
        if not isinstance(norm, nn.LayerNorm):
            return NormLayout()
        gamma, beta = (self._keep(t.detach().clone()) for t in (norm.weight, norm.bias))
        return NormLayout(gamma.data_ptr(), beta.data_ptr(), norm.eps)

    def _product(self, parts: Sequence[tuple[Tensor, Tensor]]) -> ProductLayout:
        """One product of several linear maps of the same vector, beside each other."""
        weight = torch.cat([weight.detach() for weight, _ in parts])
        bias = torch.cat([bias.detach() for _, bias in parts])
        rows = self._keep(panels(weight))
        own = self._keep(F.pad(bias, (0, -len(bias) % PANEL)).contiguous())
        return ProductLayout(rows.data_ptr(), own.data_ptr(), weight.shape[1], weight.shape[0])

    def _keep(self, tensor: Tensor) -> Tensor:
        self.kept.append(tensor)
        return tensor


def panels(weight: Tensor) -> Tensor:
    """(out, in) as (panels, in, PANEL), zeros behind the last output."""
    padded = F.pad(weight, (0, 0, 0, -weight.shape[0] % PANEL))
    return padded.view(-1, PANEL, weight.shape[1]).transpose(1, 2).contiguous()
