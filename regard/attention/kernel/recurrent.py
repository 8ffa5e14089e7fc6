"""Recurrent translators as the kernel reads them: what reads the source, what writes the target.

Which products a design has, and of what: recurrent.h.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from torch import Tensor

from regard.attention.kernel.layout import NetworkLayout, ReaderLayout, UnitLayout, WriterLayout
from regard.attention.kernel.weights import LinearMap, PackedNetwork

LOOKING, TOLD, SAYING = 0, 1, 2
"""The designs; the same in recurrent.h."""
Products = Mapping[str, Sequence[LinearMap]]
"""By name, the maps that are added to one vector, beside each other."""


class UnitWeights(NamedTuple):
    """What a gated unit makes of a word, [W_z; W_r; W] with biases, and of its state, [U_z; U_r]
    and U."""

    inputs: LinearMap
    gates: Tensor
    candidate: Tensor


class PackedReader(PackedNetwork):
    """From the words (vocabulary, width) of a source to what the writer needs of them."""

    def __init__(
        self,
        design: int,
        words: Tensor,
        units: Sequence[UnitWeights],
        products: Products,
        weights: str = "",
    ) -> None:
        super().__init__(weights)
        hidden = units[0].candidate.shape[0]
        self.layout = made = ReaderLayout(design=design, hidden=hidden, words=self.address(words))
        made.inputs = self.product([unit.inputs for unit in units])
        for name, unit in zip(("forwards", "backwards"), units, strict=False):
            gates, candidate = (self.product([(w, None)]) for w in (unit.gates, unit.candidate))
            setattr(made, name, UnitLayout(gates, candidate))
        for name, parts in products.items():
            setattr(made, name, self.product(parts))
        made.units = made.from_state.out // 2
        out = (3 * hidden, hidden + made.context.out, made.units)[design]
        self.close(NetworkLayout(reader=ctypes.pointer(made), vocabulary=len(words), out=out))


class PackedWriter(PackedNetwork):
    """From the last word and the state of a hypothesis to the scores of its next word."""

    def __init__(
        self,
        design: int,
        words: Tensor,
        products: Products,
        weights: str = "",
        *,
        v: Tensor | None = None,
        end: int = 0,
    ) -> None:
        super().__init__(weights)
        self.layout = made = WriterLayout(design=design, words=self.address(words), end=end)
        for name, parts in products.items():
            setattr(made, name, self.product(parts))
        made.hidden, made.units = made.candidate.out, getattr(made.out, "in")
        if v is not None:
            made.v = self.address(v.detach().clone())
        network = NetworkLayout(writer=ctypes.pointer(made), vocabulary=len(words))
        network.out, network.kept = made.out.out, made.hidden
        self.close(network)
