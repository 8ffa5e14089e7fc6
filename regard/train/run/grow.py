"""Grow: weights for a model whose feed-forward layers are wider, and which computes the same.

Chen et al. (2016, Net2Net) begin a larger network with the function of a smaller one. Here what is
new reads its input as the fresh model does and writes nothing yet: the new rows of W_1 are random,
the new columns of W_2 are zero, and training lets them in.
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from regard.models.layers import FeedForward
from regard.store.weights import named_weights


def grown(model: nn.Module, weights: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """``weights`` in the model's widths, where its feed-forward layers are wider than theirs.

    Layers that differ in what they read too are left as they are: they fit nowhere.
    """
    fresh, made = named_weights(model), dict(weights)
    for name, module in model.named_modules():
        inner = made.get(f"{name}.inner.weight")
        if not isinstance(module, FeedForward) or inner is None:
            continue
        new = module.inner.out_features - len(inner)
        if new <= 0 or inner.shape[1:] != module.inner.weight.shape[1:]:
            continue
        for part in ("weight", "bias"):
            own = fresh[f"{name}.inner.{part}"].detach()
            made[f"{name}.inner.{part}"] = torch.cat((made[f"{name}.inner.{part}"], own[-new:]))
        outer = made[f"{name}.outer.weight"]
        made[f"{name}.outer.weight"] = torch.cat((outer, outer.new_zeros(len(outer), new)), 1)
    return made
