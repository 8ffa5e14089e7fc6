"""Observed: one head of any model that can be observed, as a worked example.

The model runs once as it always runs; what its attention was given (queries and keys, with their
positions in them, values, mask, bias) is observed, and the steps are computed from it in float64.
The proof is what the model's own kernel mixed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from regard.attention.rule import softmax
from regard.errors import DataError, ModelError, RegardError
from regard.inside.anatomy.linear import numbers
from regard.inside.explain.link import choose
from regard.inside.explain.model import Explained, Proof
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.observe.observe import observe
from regard.inside.textmodel import TextModel
from regard.pieces.pieces import Pieces
from regard.trace import Array, Step, Trace
from regard.trace.derived import Derived, Part

MOST = 1024
"""Tokens of a text, at most: of longer ones regard look tells what each head does."""
PAIR, VECTOR = ("head", "query", "key"), ("head", "query", "width")
OWN = "the model's own kernel mixed the same values with the same weights"


class ObservedModel:
    """A model of any kind that ``look`` takes, ready to be explained."""

    def __init__(self, model: TextModel) -> None:
        self.model, self.name = model, model.title

    def explain(
        self,
        text: str,
        word: str | None = None,
        to: str | None = None,
        layer: int | None = None,
        head: int | None = None,
    ) -> Explained:
        """The steps of one head for ``word``; what is not given is chosen by its strongest link."""
        reading = self.model.read(text, MOST)
        if all(reading.silent):
            raise DataError(f"there is no word in the text that {self.name} can read")
        place = None if word is None else reading.word(word)[0]
        target = None if to is None else reading.word(to)[0]
        layers, given = self._observed(reading)
        heads = layers[0].heads
        self._check("layer", layer, len(layers))
        self._check("head", head, heads)
        weights = np.stack([_weights(found.item()) for found in layers])
        choice = choose(weights, reading, word=place, to=target, layer=layer, head=head)
        best = choice.best
        chosen = layers[best.layer]
        trace = head_trace(chosen, given.get(chosen.name), self._turned(), reading.labels)
        trace.mechanism = f"{self.name} layer {best.layer} head {best.head}"
        known = layer is not None and head is not None
        return Explained(
            *(self.name, (len(layers), heads), reading, best.layer, best.head),
            *(best.word, best.to, None if known else choice, None, trace),
            _proof(chosen.item(), trace),
        )

    def _observed(self, reading: Pieces) -> tuple[list[ObservedLayer], dict[str, Tensor]]:
        """The layers of self-attention, of an encoder if there is one, and what each was given."""
        with (
            given_to(self.model.network) as given,
            observe(self.model.network, values=True) as observation,
        ):
            self.model.run(reading)
        layers = [layer for layer in observation.layers if layer.kind == "self"]
        bare = next((layer for layer in layers if layer.item().value is None), None)
        if not layers or bare is not None:
            raise ModelError(
                f"{self.name} shows the weights of its attention but not its queries, keys and "
                "values: 'regard look' shows what there is to see"
            )
        if len({layer.heads for layer in layers}) > 1:
            raise ModelError(f"the layers of {self.name} differ in their number of heads")
        return layers, given

    def _turned(self) -> bool:
        """Whether positions turn queries and keys."""
        modules = self.model.network.modules()
        return any("rotary" in type(module).__name__.lower() for module in modules)

    def _check(self, name: str, number: int | None, count: int) -> None:
        if number is not None and not 0 <= number < count:
            raise RegardError(
                f"{self.name} has {count} {name}s, counted from 0: {name} must be from 0 to "
                f"{count - 1}, got {number}"
            )


@contextmanager
def given_to(network: nn.Module) -> Iterator[dict[str, Tensor]]:
    """(tokens, width): what each module inside was given, by its name; the last time it ran."""
    found: dict[str, Tensor] = {}

    def hear(name: str) -> Any:
        def before(module: nn.Module, args: Any, kwargs: dict[str, Any]) -> None:
            for x in (*args, kwargs.get("hidden_states")):
                if isinstance(x, Tensor) and x.is_floating_point() and x.dim() == 3:
                    found[name] = x.detach()[0]
                    return

        return before

    hooks = [
        module.register_forward_pre_hook(hear(name), with_kwargs=True)
        for name, module in network.named_modules()
        if "att" in type(module).__name__.lower()
    ]
    try:
        yield found
    finally:
        for hook in hooks:
            hook.remove()


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
    scaled, weights = scaled_scores(item, scores), _weights(item)
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


def _weights(item: Item) -> Array:
    """(heads, queries, keys)"""
    if item.weights is not None:
        return numbers(item.weights)
    return numbers(softmax(item.rule.scores(item.query, item.key).double()))


def _proof(item: Item, trace: Trace) -> Proof:
    assert item.context is not None
    own = numbers(item.context)
    return Proof(own.size, float(np.abs(own - trace.value("context")).max()), OWN)


def _step(name: str, value: Array, axes: tuple[str, ...], formula: str, meaning: str) -> Step:
    return Step(name, value, axes=axes, formula=formula, meaning=meaning)
