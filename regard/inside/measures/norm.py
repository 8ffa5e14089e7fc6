"""Norm: how large what a head brings is (Kobayashi et al. 2020).

    m[i,j] = ‖a[i,j] v_j W_O‖ / sum_j ‖a[i,j] v_j W_O‖

A large weight on a small vector brings little. Each row is divided by its sum, so that it can be
read as the shares of a row of weights are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from regard.errors import ModelError
from regard.inside.measures.dense import dense_weights, stored
from regard.inside.measures.outputs import Outputs
from regard.inside.observe.layer import Item, ObservedLayer


@dataclass
class NormMeasure:
    """The sizes of what all heads of a layer bring."""

    outputs: Mapping[str, Outputs]
    """W_O by the attention's name."""

    def __call__(self, layer: ObservedLayer) -> Item:
        """The layer with these shares in place of its weights."""
        item = layer.item()
        sizes = self.sizes(layer.name, item)
        return stored(item, sizes / sizes.sum(-1, keepdim=True).clamp_min(1e-30))

    def sizes(self, name: str, item: Item) -> Tensor:
        """‖a v W_O‖ of a layer, (heads, queries, keys)."""
        if item.value is None:
            raise ModelError(f"{name} does not show its values: --measure norm needs them")
        matrix = torch.from_numpy(self.outputs[name].matrix).to(item.value)
        value = item.value.repeat_interleave(len(matrix) // len(item.value), 0)
        sizes: Tensor = torch.linalg.vector_norm(value @ matrix, dim=-1)
        return dense_weights(item) * sizes.unsqueeze(-2)
