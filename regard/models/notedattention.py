"""Noted attention: what a model noted of whom it attends to, by layers, heads and words.

What a word attends to is the mean over its pieces, how much it is attended to is their sum.
"""

from __future__ import annotations

import numpy as np

from regard.errors import ConfigError
from regard.pieces.grouping import by_word
from regard.text import Word
from regard.trace import Array, Step, Trace

ATTENTION = ("attention", "weights")
"""The notes that say what each word attends to."""


def attention_of(trace: Trace, words: list[Word]) -> Array:
    """(layers, heads, words, words) of what the model noted."""
    layers = [[_between(head, words) for head in heads] for heads in attention_layers(trace)]
    shape = (0, 1, len(words), len(words))
    return np.array(layers) if layers else np.zeros(shape, np.float32)


def attention_layers(trace: Trace) -> list[Array]:
    """Of each layer that attends, (heads, pieces, pieces) of what the model noted."""
    found = [s for s in trace if s.name == "attention"]
    if not found:
        found = [s for s in trace if s.path.endswith("self-attention/weights")]
    values = [step.value[0] for step in found]
    return [value if value.ndim == 3 else value[np.newaxis] for value in values]


def attention_steps(attention: Array, words: list[str]) -> list[Step]:
    """Attention (layers, heads, words, words) as steps of a trace, a layer each."""
    steps = []
    for k, weights in enumerate(attention):
        one = len(weights) == 1
        steps.append(
            Step(
                "attention",
                weights[0] if one else weights,
                axes=("query", "key") if one else ("head", "query", "key"),
                labels={"query": words, "key": words},
                formula="a[t,i]",
                meaning="How much of its attention each word gives to each word it can see.",
                scope=f"layer {k}",
            )
        )
    return steps


def of_head(attention: Array, layer: int | None = None, head: int | None = None) -> Array:
    """Of attention (layers, heads, …) that of a layer, the last if not given, and of a head, the
    mean if not given."""
    layers, heads = attention.shape[:2]
    for what, asked, count in (("layer", layer, layers), ("head", head, heads)):
        if asked is not None and not 0 <= asked < count:
            raise ConfigError(f"{what} must be from 0 to {count - 1}, got {asked}")
    chosen: Array = attention[-1 if layer is None else layer]
    found: Array = chosen.mean(0) if head is None else chosen[head]
    return found


def of_head_if_any(
    model: str, attention: Array, layer: int | None, head: int | None
) -> Array | None:
    """As :func:`of_head`; None for a ``model`` without attention, of which no head can be asked."""
    if len(attention):
        return of_head(attention, layer, head)
    for what, asked in (("layer", layer), ("head", head)):
        if asked is not None:
            raise ConfigError(f"{model} has no attention: leave --{what} out")
    return None


def _between(weights: Array, words: list[Word]) -> Array:
    """Of pieces to pieces (t, i), the weights of words to words."""
    attended = by_word(weights.T, words, mean=False).T
    return by_word(attended, words, mean=True)
