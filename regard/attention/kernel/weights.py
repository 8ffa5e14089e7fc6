"""The weights of a network as the kernel reads them.

They are copied once, in the order in which a product reads them; the structures hold addresses, so
whatever they point to is kept beside them.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Sequence

import torch
import torch.nn.functional as F
from torch import Tensor

from regard.attention.kernel.layout import NetworkLayout, ProductLayout
from regard.errors import ConfigError

SWITCH = "REGARD_WEIGHTS"
"""The environment variable: ``float32``, or ``int8`` for all weights, however they were kept."""
PANEL = 16
"""Outputs of a product whose weights stand beside each other; the same in weights.h."""
LinearMap = tuple[Tensor, Tensor | None]
"""The weight (out, in) and the bias (out,) of a linear map."""


class PackedNetwork:
    """What every network that is laid out for the kernel has."""

    def __init__(self, weights: str) -> None:
        self.kept: list[object] = []
        self.weights = weights

    def close(self, network: NetworkLayout) -> None:
        """All is laid out: this is how the kernel is told of it."""
        self.network = network
        self.pointer = ctypes.pointer(network)

    def product(self, parts: Sequence[LinearMap]) -> ProductLayout:
        """One product of several linear maps of the same vector, beside each other."""
        weight = torch.cat([weight.detach() for weight, _ in parts])
        biases = [w.new_zeros(len(w)) if bias is None else bias.detach() for w, bias in parts]
        bias = torch.cat(biases)
        made = ProductLayout(bias=self.address(filled(bias)), out=len(bias))
        setattr(made, "in", weight.shape[1])
        if (small := eight_bits(weight, self.weights)) is None:
            made.weight = self.address(panels(weight))
        else:
            made.bytes = self.address(panels(small[0], 2))
            made.scale = self.address(filled(small[1]))
        return made

    def address(self, tensor: Tensor) -> int:
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
