"""The layout of a stack's weights. What it computes: tests/models/translators/test_native.py."""

from __future__ import annotations

import torch
from torch import nn

from regard.attention.kernel.stack import PackedStack, StackLayer


def test_maps_of_one_vector_become_one_product() -> None:
    norm, linear = nn.LayerNorm(3), nn.Linear(3, 3)
    inner, outer = nn.Linear(3, 5), nn.Linear(5, 3)
    parts = [nn.Linear(3, 3) for _ in range(3)]
    layer = StackLayer(norm, parts, linear, None, None, None, norm, inner, outer)
    packed = PackedStack(
        [layer],
        heads=1,
        before=False,
        activation="silu",
        words=torch.zeros(7, 3),
        scale=2.0,
        last=nn.Identity(),
        out=[(linear.weight, linear.bias)],
    )
    network, made = packed.network, packed.layout
    assert (network.vocabulary, network.out, network.kept) == (7, 3, 6)
    assert (made.count, made.width, made.activation) == (1, 3, 1)
    assert (made.layers[0].own.out, made.layers[0].inner.out, made.layers[0].outer.out) == (9, 5, 3)
    assert (made.layers[0].query.out, made.last.gamma) == (0, None)
    assert made.layers[0].own_norm.epsilon == norm.eps
