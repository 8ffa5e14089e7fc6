"""Gradient times attention: the weights that what the model says would move with (Serrano & Smith
2019).

    m[i,j] = |a[i,j] ∂y/∂a[i,j]|,  each row divided by its sum

y is a number that the model gives, such as the log-probability of the word that it predicts. Since
c_i = sum_j a[i,j] v_j, the slope along a weight is ∂y/∂c_i · v_j: one backward pass to the outputs
of the heads gives it, and the fused kernel may compute them. A row on which y does not depend is 0.
"""

from __future__ import annotations

from collections.abc import Callable

from torch import Tensor, nn

from regard.errors import ModelError
from regard.inside.measures.dense import dense_weights, stored
from regard.inside.measures.slopes import head_slopes
from regard.inside.observe.layer import Item, ObservedLayer


class GradientMeasure:
    """The slopes of one number along the weights of all heads."""

    def __init__(self, model: nn.Module, score: Callable[[], object]) -> None:
        self.slopes = {
            (found.place.kind, found.place.part, found.place.number): found.slope[0]
            for found in head_slopes(model, score)
        }

    def __call__(self, layer: ObservedLayer) -> Item:
        """The layer with these shares in place of its weights."""
        item = layer.item()
        sizes = self.products(layer.kind, layer.part, layer.number, item).abs()
        return stored(item, sizes / sizes.sum(-1, keepdim=True).clamp_min(1e-30))

    def products(self, kind: str, part: str, number: int, item: Item) -> Tensor:
        """a ∂y/∂a of a layer, (heads, queries, keys), with its sign."""
        slope = self.slopes.get((kind, part, number))
        if item.value is None or slope is None:
            raise ModelError(
                f"layer {number} does not show what its heads put out: --measure gradient needs it"
            )
        value = item.value.repeat_interleave(len(slope) // len(item.value), 0)
        return dense_weights(item) * (slope[:, item.rows].float() @ value.float().mT)
