"""Rollout: where attention has come from, through all layers so far (Abnar & Zuidema 2020).

    R_0 = I,   R_l = (½ mean_h A_l + ½ I) R_{l−1}

The heads of a layer are averaged, and half of each word stays where it is: that is the residual.
R_l[i,j] is the share of word j at the beginning in word i after layer l, as if nothing but weights
counted.
"""

from __future__ import annotations

import torch
from torch import Tensor

from regard.inside.measures.dense import dense_weights, stored
from regard.inside.observe.layer import Item, ObservedLayer


class RolloutMeasure:
    """Takes the layers in their order; each has one map in place of its heads.

    An encoder and a decoder each begin anew.
    """

    def __init__(self) -> None:
        self.sofar: dict[str, Tensor] = {}

    def __call__(self, layer: ObservedLayer) -> Item:
        """The layer with the rollout up to it in place of its weights."""
        item = layer.item()
        step = with_residual(dense_weights(item).mean(0))
        before = self.sofar.get(layer.part)
        self.sofar[layer.part] = step if before is None else step @ before
        return stored(item, self.sofar[layer.part].unsqueeze(0))


def with_residual(weights: Tensor) -> Tensor:
    """½ A + ½ I of weights (n, n)."""
    same = torch.eye(len(weights), dtype=weights.dtype, device=weights.device)
    step = (weights + same) / 2
    return step / step.sum(-1, keepdim=True)  # a row that may see nothing stays itself
