"""What can be asked for, and what is refused before anything runs."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import regard
from regard.attention import MultiHeadAttention


@pytest.mark.parametrize(
    ("verb", "given", "text"),
    [
        ("mask", {"layer": 0, "head": 1}, "mask wants query=, key= or both"),
        ("mask", {"layer": -1, "key": 0}, "layer is a whole number from 0"),
        ("mask", {"layer": 0, "key": 1.5}, "key is a whole number from 0"),
        ("mask", {"layer": 0, "key": []}, "got none"),
        ("mask", {"layer": 0, "key": 1, "kind": "sideways"}, "kind must be one of self, cross"),
        ("remove", {"layer": 0, "head": 1, "by": "mean"}, "wants texts="),
        ("remove", {"layer": 0, "head": 1, "by": "half"}, "by 'zero' or by 'mean', got 'half'"),
        ("replace", {"layer": 0, "head": 1, "by": "half"}, "a tensor or a function, got 'half'"),
        ("replace", {"layer": 0, "by": "zero", "texts": []}, "texts= goes with by='mean'"),
        ("replace", {"layer": 0, "by": "mean", "texts": []}, "name the heads"),
        ("replace", {"layer": 0, "head": 0, "by": "mean", "texts": []}, "texts= is empty"),
        ("scale", {"layer": 0, "head": 0, "by": float("nan")}, "a finite number, got nan"),
        ("sharpen", {"by": -1.0}, "by a number from 0 on, got -1.0"),
    ],
)
def test_refused(verb: str, given: dict[str, Any], text: str) -> None:
    model = MultiHeadAttention(6, 2)
    with regard.intervene(model) as hands, pytest.raises(regard.RegardError, match=text):
        getattr(hands, verb)(**given)


@torch.no_grad()
def test_the_mean_of_a_pass_is_over_its_positions() -> None:
    model, x = MultiHeadAttention(6, 2).eval(), torch.randn(1, 5, 6)
    with regard.intervene(model) as hands:
        hands.replace(layer=0, by="mean")
        output = model(x).context
        torch.testing.assert_close(output, output[:, :1].expand_as(output))
        with pytest.raises(regard.RegardError, match="this pass has one"):
            model(x[:, :1])
    _, weights = model(x, need_weights=True)
    assert weights is not None
    values = model.value(x).view(1, 5, 2, 3).transpose(1, 2)
    mean = (weights @ values).mean(-2).flatten(1)
    torch.testing.assert_close(output[:, 0], model.output(mean))
