"""The steps of a layer's heads as a trace, from what its attention was given."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regard.attention.rule import softmax
from regard.inside.anatomy.linear import numbers
from regard.inside.observe.layer import Item, ObservedLayer
from regard.trace import Array, Step, Trace
from regard.trace.derived import Derived, Part

PAIR = ("head", "query", "key")
QUERIES, KEYS = ("head", "query", "width"), ("head", "key", "width")
SOFTMAX = "a[i,j] = exp(e[i,j]) / sum_j exp(e[i,j])"


@dataclass(frozen=True)
class Given:
    """What a layer's attention was given, as far as it was seen, and what is known of it."""

    tokens: list[str]
    """Whose queries they are."""
    source: list[str] | None = None
    """Whose keys they are, of cross-attention."""
    input: Tensor | None = None
    """(queries, width)"""
    memory: Tensor | None = None
    """(keys, width), of cross-attention."""
    turned: bool = False
    """Whether positions turn queries and keys."""

    def labels(self, axes: tuple[str, ...]) -> dict[str, list[str]]:
        """The words of the axes, where queries and keys are of different texts."""
        if self.source is None:
            return {}
        named = {"query": self.tokens, "key": self.source}
        return {axis: named[axis] for axis in axes if axis in named}


def head_trace(layer: ObservedLayer, given: Given) -> Trace:
    """The six steps of all heads of a layer, in float64."""
    trace = Trace(tokens=given.tokens)
    trace.steps += [*_read(given, layer.item()), *_compared(layer, given)]
    for step in trace:
        step.labels = given.labels(step.axes)
    return trace


def _read(given: Given, item: Item) -> list[Step]:
    """What queries, keys and values are made from, where it was seen."""
    found = []
    for name, read, rows, sign, meaning in (
        ("input", given.input, "query", "x", "What attention is given in this layer."),
        ("memory", given.memory, "key", "m", "What is attended to: the source, encoded."),
    ):
        size = len(item.rows) if rows == "query" else len(item.columns)
        if read is not None and len(read) == size:
            found.append(_step(name, numbers(read), (rows, "width"), sign, meaning))
    return found


def _compared(layer: ObservedLayer, given: Given) -> list[Step]:
    """Queries, keys and values, and what becomes of them."""
    item = layer.item()
    assert item.value is not None
    q, k, v = (numbers(x) for x in (item.query, item.key, item.value))
    shared = len(q) // len(k)
    k, v = k.repeat(shared, 0), v.repeat(shared, 0)
    scores: Array = q @ k.swapaxes(-1, -2)
    allowed = torch.isfinite(item.rule.scores(item.query, item.key)).numpy()
    scaled, weights = scaled_scores(item, scores), head_weights(item)
    turn, from_ = "R(p) " if given.turned else "", "x" if given.source is None else "m"
    steps = [
        _step("queries", q, QUERIES, f"q = {turn}W_Q x", "What each word looks for."),
        _step("keys", k, KEYS, f"k = {turn}W_K {from_}", _shared(given.turned, shared)),
        _step("values", v, KEYS, f"v = W_V {from_}", "What it hands over."),
        _step("scores", scores, PAIR, "e[i,j] = q_i · k_j", "How well they fit."),
        _step("scaled", scaled, PAIR, scale_formula(item, layer), "At an even size."),
    ]
    if not allowed.all():
        meaning = "Where a query may not attend, its score becomes -inf and its weight 0."
        steps.append(_step("mask", allowed, PAIR, "may i attend to j?", meaning))
    made = Derived(Part("weights", weights), Part("values", v))
    context: Array = weights @ v
    return [
        *steps,
        _step("weights", weights, PAIR, SOFTMAX, "The share that each word gets."),
        Step("weighted_values", made, axes=(*PAIR, "width"), formula="a[i,j] v_j"),
        _step("context", context, QUERIES, "c[i] = sum_j a[i,j] v_j", "Their sum."),
    ]


def _shared(turned: bool, shared: int) -> str:
    """What must be said of the keys."""
    said = "R(p) turns each pair of numbers by an angle times the position. " if turned else ""
    return said + (f"{shared} heads share each key and value." if shared > 1 else "")


def scaled_scores(item: Item, scores: Array) -> Array:
    """The scores after scale, soft cap and bias; what is masked is still there to be seen."""
    rule = item.rule
    found = scores * rule.scale
    if rule.softcap:
        found = np.tanh(found / rule.softcap) * rule.softcap
    return found if rule.bias is None else found + numbers(rule.bias)


def scale_formula(item: Item, layer: ObservedLayer) -> str:
    """``e[i,j] / sqrt(64)``, and what else is done to it."""
    rule, width = item.rule, layer.query.shape[-1]
    usual = abs(rule.scale * width**0.5 - 1) < 1e-6
    formula = f"e[i,j] / sqrt({width})" if usual else f"{rule.scale:.4g} e[i,j]"
    if rule.softcap:
        formula = f"{rule.softcap:g} tanh({formula} / {rule.softcap:g})"
    return formula if rule.bias is None else f"{formula} + bias[i,j]"


def head_weights(item: Item) -> Array:
    """(heads, queries, keys)"""
    if item.weights is not None:
        return numbers(item.weights)
    return numbers(softmax(item.rule.scores(item.query, item.key).double()))


def _step(name: str, value: Array, axes: tuple[str, ...], formula: str, meaning: str) -> Step:
    return Step(name, value, axes=axes, formula=formula, meaning=meaning)
