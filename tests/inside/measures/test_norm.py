"""The size of what heads bring, against NumPy pair by pair."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from regard.inside.measures.measure import measured_maps
from tests.inside.measures.reference import eager, norms


def by_head(x: Tensor, heads: int) -> Tensor:
    found: Tensor = x.unflatten(-1, (heads, -1)).transpose(0, 1).double()
    return found


def test_a_bert() -> None:
    model, given, weights = eager("Bert")
    maps = measured_maps(model, lambda: model(**given), "norm", [f"w{i}" for i in range(9)])
    with torch.no_grad():
        hidden = model(**given, output_hidden_states=True).hidden_states
        for number, layer in enumerate(model.encoder.layer):
            values = by_head(layer.attention.self.value(hidden[number][0]), 3).numpy()
            matrix = layer.attention.output.dense.weight.double().numpy().T
            expected = norms(weights[number], values, matrix)
            for head in range(3):
                found = maps[number, head].dense().double().numpy()
                assert found == pytest.approx(expected[head], abs=1e-6)
    assert maps[1, 2].queries[3] == "w3"


def test_heads_that_share_values() -> None:
    model, given, weights = eager("Llama")
    maps = measured_maps(model, lambda: model(**given), "norm")
    attention = model.layers[0].self_attn
    with torch.no_grad():
        hidden = model(**given, output_hidden_states=True).hidden_states[0]
        read = model.layers[0].input_layernorm(hidden)[0]
        values = by_head(attention.v_proj(read), 2).repeat_interleave(2, 0).numpy()
    expected = norms(weights[0], values, attention.o_proj.weight.detach().double().numpy().T)
    for head in range(4):
        assert maps[0, head].dense().double().numpy() == pytest.approx(expected[head], abs=1e-6)
