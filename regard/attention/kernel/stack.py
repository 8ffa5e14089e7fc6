"""Run the kernel's stack of Transformer layers: its weights laid out, its rows.

Weights are copied once, in the order in which a product reads them; the structures hold addresses,
so whatever they point to is kept beside them.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from regard.attention.kernel.layout import LayerLayout, NormLayout, ProductLayout, StackLayout
from regard.errors import ConfigError

SWITCH = "REGARD_WEIGHTS"
"""The environment variable: ``float32``, or ``int8`` for all weights, however they were kept."""
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
        weights: str = "",
    ) -> None:
        self.kept: list[object] = []
        self.weights = weights
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
        gamma, beta = (self._address(t.detach().clone()) for t in (norm.weight, norm.bias))
        return NormLayout(gamma, beta, norm.eps)

    def _product(self, parts: Sequence[tuple[Tensor, Tensor]]) -> ProductLayout:
        """One product of several linear maps of the same vector, beside each other."""
        weight = torch.cat([weight.detach() for weight, _ in parts])
        bias = torch.cat([bias.detach() for _, bias in parts])
        made = ProductLayout(bias=self._address(filled(bias)), out=len(bias))
        setattr(made, "in", weight.shape[1])
        if (small := eight_bits(weight, self.weights)) is None:
            made.weight = self._address(panels(weight))
        else:
            made.bytes = self._address(panels(small[0], 2))
            made.scale = self._address(filled(small[1]))
        return made

    def _address(self, tensor: Tensor) -> int:
        self.kept.append(tensor)
        return tensor.data_ptr()


def wanted_weights() -> str:
    """What the environment says of the weights of products."""
    wanted = os.environ.get(SWITCH, "").strip().lower()
    if wanted not in ("", "float32", "int8"):
        raise ConfigError(f"{SWITCH} must be 'float32' or 'int8', or not be set, got {wanted!r}")
    return wanted


def eight_bits(weight: Tensor, wanted: str = "") -> tuple[Tensor, Tensor] | None:
    """Rows (out, in) as whole numbers of 8 bits and the scale of each row (out,), or None: those
    of models that are shipped are such numbers, and others become such if ``int8`` is wanted."""
    if wanted == "float32":
        return None
    scale = weight.abs().amax(1, keepdim=True) / 127
    scale[scale == 0] = 1
    whole = (weight / scale).round()
    if wanted != "int8" and not torch.equal(whole * scale, weight):
        return None
    return whole.to(torch.int8), scale.squeeze(1)


def filled(row: Tensor) -> Tensor:
    """(out,), zeros behind the last output up to a whole panel."""
    return F.pad(row, (0, -len(row) % PANEL)).contiguous()


def panels(weight: Tensor, together: int = 1) -> Tensor:
    """(out, in) as (panels, in / together, PANEL, together), zeros behind the last of each."""
    outs, ins = weight.shape
    padded = F.pad(weight, (0, -ins % together, 0, -outs % PANEL))
    return padded.view(-1, PANEL, -(-ins // together), together).transpose(1, 2).contiguous()
