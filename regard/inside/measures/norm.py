"""Norm: how large what a head brings is (Kobayashi et al. 2020).

    m[i,j] = ‖a[i,j] v_j W_O‖ / sum_j ‖a[i,j] v_j W_O‖

A large weight on a small vector brings little. Each row is divided by its sum, so that it can be
read as the shares of a row of weights are.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from regard.errors import ModelError
from regard.inside.measures.dense import dense_weights, stored
from regard.inside.observe.layer import Item, ObservedLayer
from regard.trace import Array


@dataclass
class NormMeasure:
    """The sizes of what all heads of a layer bring."""

    matrices: Mapping[str, Array]
    """W_O (heads, w, width), by the attention's name."""

    def __call__(self, layer: ObservedLayer) -> Item:
        """The layer with these shares in place of its weights."""
        item = layer.item()
        if item.value is None:
            raise ModelError(f"{layer.name} does not show its values: --measure norm needs them")
        matrix = torch.from_numpy(self.matrices[layer.name]).to(item.value)
        value = item.value.repeat_interleave(len(matrix) // len(item.value), 0)
        sizes = torch.linalg.vector_norm(value @ matrix, dim=-1)
        shares = dense_weights(item) * sizes.unsqueeze(-2)
        return stored(item, shares / shares.sum(-1, keepdim=True).clamp_min(1e-30))
