"""The steps of a layer's heads, from queries, keys and values that can be multiplied by hand."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from regard.attention.mask import Mask
from regard.attention.rule import Rule
from regard.inside.explain.headtrace import Given, head_trace
from regard.inside.observe.call import Call
from regard.inside.observe.layer import ObservedLayer


def layer(rule: Rule, heads: int = 2) -> ObservedLayer:
    """Two queries and keys of width 1: q = 1 and 2, k = 3 and 5, v = 7 and 11; one key head."""
    query = torch.tensor([1.0, 2.0]).view(1, 1, 2, 1).repeat(1, heads, 1, 1)
    key, value = (torch.tensor(x).view(1, 1, 2, 1) for x in ([3.0, 5.0], [7.0, 11.0]))
    found = ObservedLayer("attention", "self", "", 0)
    found.begin(Call(query, key, rule, value=value, context=query))
    return found


def test_by_hand() -> None:
    trace = head_trace(layer(Rule(0.5, None, None)), Given(["a", "b"], input=torch.ones(2, 3)))
    assert trace.tokens == ["a", "b"]
    assert trace.value("input").shape == (2, 3)
    assert trace.value("scores")[1].tolist() == [[3, 5], [6, 10]]
    assert trace.value("scaled")[0].tolist() == [[1.5, 2.5], [3, 5]]
    assert trace["scaled"].formula == "0.5 e[i,j]"
    share = 1 / (1 + np.exp(1))
    assert trace.value("weights")[0, 0] == pytest.approx([share, 1 - share])
    assert trace.value("context")[1, 0, 0] == pytest.approx(7 * share + 11 * (1 - share))
    assert trace["keys"].meaning == "2 heads share each key and value."
    assert "mask" not in trace


def test_what_is_masked_and_what_is_added() -> None:
    bias = torch.tensor([[[[0.0, 2.0], [1.0, 0.0]]]])
    trace = head_trace(layer(Rule(1.0, Mask(causal=True), bias)), Given(["a", "b"], turned=True))
    assert trace["scaled"].formula == "e[i,j] / sqrt(1) + bias[i,j]"
    assert trace.value("scaled")[0].tolist() == [[3, 7], [7, 10]]
    assert trace.value("mask")[0].tolist() == [[True, False], [True, True]]
    assert trace.value("weights")[0, 0].tolist() == [1, 0]
    assert "input" not in trace
    assert trace["queries"].formula == "q = R(p) W_Q x"


def test_another_text_is_attended_to() -> None:
    given = Given(["a", "b"], ["x", "y"], torch.ones(2, 3), torch.ones(2, 5))
    trace = head_trace(layer(Rule(1.0, None, None)), given)
    assert trace.value("memory").shape == (2, 5)
    assert (trace["input"].labels, trace["memory"].labels) == (
        {"query": ["a", "b"]},
        {"key": ["x", "y"]},
    )
    assert trace["values"].formula == "v = W_V m"
    assert trace["weights"].labels == {"query": ["a", "b"], "key": ["x", "y"]}
    unseen = Given(["a", "b"], ["x", "y"], torch.ones(7, 3), None)
    assert "input" not in head_trace(layer(Rule(1.0, None, None)), unseen)
