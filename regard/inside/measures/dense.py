"""Dense: all weights of a layer at once, and a layer that has other numbers in their place."""

from __future__ import annotations

from torch import Tensor

from regard.attention.rule import softmax
from regard.errors import DataError
from regard.inside.observe.layer import Item, rule_of_weights

MOST = 2048
"""Tokens up to which all weights of a layer are held."""


def dense_weights(item: Item) -> Tensor:
    """(heads, queries, keys), in float32."""
    if max(len(item.rows), len(item.columns)) > MOST:
        raise DataError(
            f"a measure holds all weights of a layer: a text may have {MOST:,} tokens with "
            f"--measure, this one has {len(item.columns):,}"
        )
    if item.weights is not None:
        return item.weights.float()
    return softmax(item.rule.scores(item.query, item.key))


def stored(item: Item, shares: Tensor) -> Item:
    """The layer with ``shares`` (heads, queries, keys) in place of its weights."""
    query, key = (shares.new_zeros(len(shares), len(x), 1) for x in (item.rows, item.columns))
    return Item(query, key, rule_of_weights(shares), item.rows, item.columns, shares)
