"""The steps of a layer's heads as a trace, from what its attention was given."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from regard.attention.rule import softmax
from regard.inside.anatomy.linear import numbers
from regard.inside.observe.layer import Item, ObservedLayer
from regard.trace import Array, Step, Trace
from regard.trace.derived import Derived, Part

PAIR, VECTOR = ("head", "query", "key"), ("head", "query", "width")


def head_trace(
    layer: ObservedLayer, given: Tensor | None, turned: bool, tokens: list[str]
) -> Trace:
    """The six steps of all heads of a layer, in float64."""
    item = layer.item()
    assert item.value is not None
    q, k, v = (numbers(x) for x in (item.query, item.key, item.value))
    shared = len(q) // len(k)
    scores: Array = q @ k.repeat(shared, 0).swapaxes(-1, -2)
    allowed = torch.isfinite(item.rule.scores(item.query, item.key)).numpy()
    scaled, weights = scaled_scores(item, scores), head_weights(item)
    turn = "R(p) " if turned else ""
    trace = Trace(tokens=tokens)
    if given is not None and len(given) == q.shape[1]:
        meaning = "What attention is given in this layer."
        trace.steps.append(_step("input", numbers(given), ("query", "width"), "x", meaning))
    trace.steps += [
        _step("queries", q, VECTOR, f"q = {turn}W_Q x", "What each word looks for."),
        _step("keys", k.repeat(shared, 0), VECTOR, f"k = {turn}W_K x", _shared(turned, shared)),
        _step("values", v.repeat(shared, 0), VECTOR, "v = W_V x", "What it hands over."),
        _step("scores", scores, PAIR, "e[i,j] = q_i · k_j", "How well they fit."),
        _step("scaled", scaled, PAIR, scale_formula(item, layer), "At an even size."),
    ]
    if not allowed.all():
        meaning = "Where a query may not attend, its score becomes -inf and its weight 0."
        trace.steps.append(_step("mask", allowed, PAIR, "may i attend to j?", meaning))
    rest = "a[i,j] = exp(e[i,j]) / sum_j exp(e[i,j])"
    trace.steps.append(_step("weights", weights, PAIR, rest, "The share that each word gets."))
    values = trace.value("values")
    made = Derived(Part("weights", weights), Part("values", values))
    context: Array = weights @ values
    trace.steps += [
        Step("weighted_values", made, axes=("head", "query", "key", "width"), formula="a[i,j] v_j"),
        _step("context", context, VECTOR, "c[i] = sum_j a[i,j] v_j", "Their sum."),
    ]
    return trace


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
