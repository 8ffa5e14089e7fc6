"""Sheets: an observed layer as plain data, the vectors of its heads and the rule between them."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from regard.inside.observe.layer import Item, ObservedLayer
from regard.pieces.marks import from_labels
from regard.pieces.pieces import Pieces
from regard.pieces.sheet import Sheet, as_array, some


def sheet_of(
    layer: ObservedLayer, batch: int, names: tuple[list[str], list[str]], texts: list[Pieces]
) -> Sheet:
    """One batch item of a layer, padding removed.

    ``names`` are the tokens of its queries and keys, if known; a text that is not yet among
    ``texts`` is added there.
    """
    item = layer.item(batch)
    cross = layer.kind == "cross"
    first = _place(texts, names[0], len(item.rows), layer.part if cross else "")
    second = _place(texts, names[1], len(item.columns), "source" if cross else "")
    sheet = Sheet(layer.name, layer.number, first, second, layer.kind, layer.part)
    sheet.heads = layer.chosen or range(layer.heads)
    if item.weights is not None:
        sheet.weights = as_array(item.weights)
        return sheet
    sheet.query, sheet.key = as_array(item.query), as_array(item.key)
    sheet.set_rule(item.rule)
    rows = sheet.checked = some(len(item.rows))
    sheet.lse = as_array(_log_sums(item, rows))
    if item.value is not None:
        sheet.value = as_array(item.value)
    if item.context is not None:
        sheet.context = as_array(item.context[:, rows])
    return sheet


def _place(texts: list[Pieces], tokens: list[str], count: int, name: str) -> int:
    text = from_labels(tokens, name) if tokens else Pieces.numbered(count)
    for place, other in enumerate(texts):
        if other.labels in (tokens, text.labels):
            return place
    texts.append(text)
    return len(texts) - 1


def _log_sums(item: Item, rows: Sequence[int]) -> Tensor:
    """(heads, rows): log-sum-exp of the scores of these rows."""
    columns = torch.arange(item.key.shape[-2], device=item.key.device)
    pairs = torch.tensor([rows], device=item.query.device), columns.unsqueeze(0)
    return item.rule.scores_between(item.query, item.key, *pairs)[:, 0].logsumexp(-1)
