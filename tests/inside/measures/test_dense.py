"""All weights of a layer, and other numbers in their place."""

from __future__ import annotations

import pytest
import torch

import regard
from regard.errors import DataError
from regard.inside.measures import dense
from regard.inside.measures.dense import dense_weights, stored
from tests.inside.tiny import inputs, tiny


def test_weights_and_what_stands_for_them(monkeypatch: pytest.MonkeyPatch) -> None:
    model = tiny("Llama")
    with regard.observe(model) as seen, torch.no_grad():
        model(input_ids=inputs("Llama", lengths=(7,))["input_ids"])
    item = seen.layers[0].item()
    weights = dense_weights(item)
    assert torch.allclose(weights[3], seen[0, 3].dense(), atol=1e-6)
    other = stored(item, weights.flip(0))
    assert other.weights is not None
    assert torch.equal(dense_weights(other), weights.flip(0))
    monkeypatch.setattr(dense, "MOST", 6)
    with pytest.raises(DataError, match=r"may have 6 tokens with --measure, this one has 7"):
        dense_weights(item)
