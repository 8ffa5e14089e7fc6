"""HeadsOfWord: what each head of a layer brings one word from each other word.

    attention adds   sum_h sum_j a[h,j] v[h,j] W_O^h + b_O

Kept are the word's weights, all values and W_O, so that the sum can be told apart by head and by
the word it came from.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from regard.attention.rule import softmax
from regard.inside.anatomy.linear import linear, numbers
from regard.inside.anatomy.runs import ModuleRun
from regard.inside.observe.layer import Item, ObservedLayer
from regard.trace import Array

CLOSE = 1e-3
"""How far the sum over the heads may be from what the layer's attention put out, in units of the
largest number; what is farther is not told apart."""


@dataclass(frozen=True)
class HeadsOfWord:
    """The heads of one layer, for one word."""

    weights: Array
    """(heads, keys)"""
    values: Array
    """(key heads, keys, w)"""
    matrix: Array
    """W_O (heads, w, width)"""
    bias: Array
    """b_O (width,)"""
    bound: bool
    """Whether distances take part as a bias of the scores."""

    @property
    def value_of_head(self) -> Array:
        """(heads, keys, w): grouped heads share their values."""
        return self.values.repeat(len(self.weights) // len(self.values), axis=0)

    def each(self) -> Array:
        """(heads, keys, width): what each head brings from each word."""
        mixed = self.weights[..., None] * self.value_of_head
        found: Array = np.einsum("hkw,hwd->hkd", mixed, self.matrix, optimize=True)
        return found

    def along(self, direction: Array) -> Array:
        """(heads, keys): the share of each in ``direction``, without making all vectors."""
        wanted = self.matrix @ direction
        found: Array = self.weights * np.einsum("hkw,hw->hk", self.value_of_head, wanted)
        return found

    @property
    def total(self) -> Array:
        """What all of them add, bias included."""
        mixed = np.einsum("hk,hkw->hw", self.weights, self.value_of_head)
        found: Array = np.einsum("hw,hwd->d", mixed, self.matrix) + self.bias
        return found


def heads_of_word(layer: ObservedLayer, source: ModuleRun, row: int) -> HeadsOfWord | None:
    """The heads of the observed ``layer`` for the token at ``row``, whose output ``source`` made.

    None where they cannot be told apart: values that were not seen, an output that is not the
    product of the heads' contexts with a matrix.
    """
    item, output = layer.item(), linear(source.module)
    if item.value is None or output is None or source.made is None:
        return None
    weights, values = _weights(item, row), numbers(item.value)
    heads, width = len(weights), values.shape[-1]
    if output.matrix.shape[1] != heads * width:
        return None
    matrix = output.matrix.reshape(-1, heads, width).transpose(1, 2, 0)
    found = HeadsOfWord(weights, values, matrix, output.shift, item.rule.bias is not None)
    made = numbers(source.made[row])
    if np.abs(found.total - made).max() > CLOSE * np.abs(made).max() + 1e-9:
        return None
    return found


def _weights(item: Item, row: int) -> Array:
    """(heads, keys): one row of every head."""
    if item.weights is not None:
        return numbers(item.weights[:, row])
    scores = item.rule.scores(item.query, item.key, (row, row + 1))
    return numbers(softmax(scores)[:, 0])
