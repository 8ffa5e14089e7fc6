"""Gradient times attention against NumPy, and against the weights' own gradient in eager mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from regard.inside.measures.measure import measured_maps
from tests.inside.measures.reference import gradients
from tests.inside.tiny import inputs, tiny

HEADS, WIDTH, N = 2, 6, 5


def test_one_layer_by_numpy() -> None:
    """y is the sum of what the layer puts out times fixed numbers u."""
    torch.manual_seed(3)
    layer = nn.MultiheadAttention(WIDTH, HEADS, batch_first=True).eval()
    x, u = torch.randn(1, N, WIDTH), torch.randn(N, WIDTH)
    u[2] = 0  # nothing is asked of this row
    run = lambda: (layer(x, x, x, need_weights=False)[0][0] * u).sum()  # noqa: E731
    maps = measured_maps(layer, run, "gradient")
    arrays = (x[0], u, layer.in_proj_weight, layer.in_proj_bias, layer.out_proj.weight)
    expected = gradients(HEADS, *(array.detach().double().numpy() for array in arrays))
    for head in range(HEADS):
        found = maps[0, head].dense().double().numpy()
        assert found == pytest.approx(expected[head], abs=1e-5)
        assert found[2].tolist() == [0.0] * N
        assert np.delete(found, 2, 0).sum(-1) == pytest.approx(np.ones(N - 1), abs=1e-5)


def number(output: Any) -> Tensor:
    last: Tensor = output.last_hidden_state[0, -1]
    found = last @ torch.linspace(-1, 1, len(last), dtype=last.dtype)
    return found


@pytest.mark.parametrize("family", ["Bert", "Llama"])
def test_all_layers_by_the_weights_gradient(family: str) -> None:
    given = inputs(family, lengths=(7,))
    given.pop("attention_mask")
    model, slow = tiny(family), tiny(family, "eager").double()
    output = slow(**given, output_attentions=True)
    for weights in output.attentions:
        weights.retain_grad()
    number(output).backward()
    maps = measured_maps(model, lambda: number(model(**given)), "gradient")
    assert len(maps) == sum(weights.shape[1] for weights in output.attentions)
    for (layer, head), found in maps.items():
        weights = output.attentions[layer]
        sizes = (weights * weights.grad)[0, head].detach().abs().numpy()
        total = sizes.sum(-1, keepdims=True)
        expected = np.divide(sizes, total, out=np.zeros_like(sizes), where=total > 0)
        assert found.dense().double().numpy() == pytest.approx(expected, abs=1e-4)
    slow.float().zero_grad()
