"""Slopes along what heads put out."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

import regard
from regard.errors import RegardError
from regard.inside.measures.slopes import head_slopes
from tests.inside.tiny import inputs, tiny


def test_a_small_step_along_the_slope() -> None:
    """y((1 + ε) c) − y(c) = ε c · ∂y/∂c to first order, by scaling a head a little."""
    model = tiny("Llama").double()
    ids = inputs("Llama", lengths=(7,))["input_ids"]

    def score() -> Tensor:
        last: Tensor = model(input_ids=ids).last_hidden_state[0, -1]
        return last @ torch.linspace(-1, 1, len(last)).double()

    found = head_slopes(model, score)
    assert [(one.place.kind, one.place.number) for one in found] == [("self", 0), ("self", 1)]
    assert all(p.requires_grad for p in model.parameters())
    for layer, head in ((0, 1), (1, 3)):
        one = found[layer]
        expected = float((one.context[0, head] * one.slope[0, head]).sum())
        values = []
        for by in (1.01, 0.99):
            with torch.no_grad(), regard.intervene(model) as hands:
                hands.scale(layer, head, by=by)
                values.append(float(score()))
        assert (values[0] - values[1]) / 0.02 == pytest.approx(expected, rel=1e-3)
    model.float()


def test_no_number() -> None:
    model = tiny("Llama")
    ids = inputs("Llama", lengths=(5,))["input_ids"]
    with pytest.raises(RegardError, match=r"got a tensor of shape \(1, 5, 32\)$"):
        head_slopes(model, lambda: model(input_ids=ids).last_hidden_state)
    with pytest.raises(RegardError, match=r"such as logits.*got BaseModelOutputWithPast$"):
        head_slopes(model, lambda: model(input_ids=ids))
    with pytest.raises(RegardError, match=r"shape \(\) without a gradient$"):
        head_slopes(model, lambda: model(input_ids=ids).last_hidden_state.sum().detach())
