"""Page: an Observation as a subject of the page (regard.views.page)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from regard.attention.statistics import scores_of
from regard.errors import RegardError
from regard.inside.observe.layer import Item, ObservedLayer
from regard.inside.observe.observation import Observation
from regard.inside.observe.observe import observe
from regard.inside.textmodel import TextModel
from regard.pieces.sheet import some
from regard.pieces.text import TextPieces
from regard.views.page import Sheet, SheetText, Subject
from regard.views.page.maps import as_array, set_rule
from regard.views.page.pack import EXACT

MOST_MEGABYTES = 256
"""The largest page that is written."""
TRIED = 64
"""Tokens of a long text by which the size of its page is foreseen."""


def subject_of_observation(
    observation: Observation,
    title: str = "",
    *,
    batch: int = 0,
    model: str = "",
    notes: Sequence[str] = (),
    start: dict[str, Any] | None = None,
    texts: Sequence[SheetText] = (),
) -> Subject:
    """Every layer that was observed, for one batch item, padding removed.

    ``texts`` say more about the tokens: their words, and which are special.
    """
    texts = list(texts)
    sheets = [_sheet(observation, layer, batch, texts) for layer in observation.layers]
    words = " ".join(texts[0].tokens) if texts else ""
    return Subject(
        title or words[:200] or "Attention",
        texts,
        sheets,
        model,
        "observed",
        list(notes),
        dict(start or {"view": "head"}),
    )


def _sheet(
    observation: Observation, layer: ObservedLayer, batch: int, texts: list[SheetText]
) -> Sheet:
    item = layer.item(batch)
    queries, keys = observation.texts_of(layer, batch)
    first = _place(texts, queries, len(item.rows), layer.part if layer.kind == "cross" else "")
    second = _place(texts, keys, len(item.columns), "source" if layer.kind == "cross" else "")
    sheet = Sheet(layer.name, layer.number, first, second, layer.kind, layer.part)
    sheet.heads = layer.chosen or range(layer.heads)
    if item.weights is not None:
        sheet.weights = as_array(item.weights)
        return sheet
    sheet.query, sheet.key = as_array(item.query), as_array(item.key)
    set_rule(sheet, item.rule)
    rows = sheet.checked = some(len(item.rows))
    sheet.lse = as_array(_log_sums(item, rows))
    if item.value is not None:
        sheet.value = as_array(item.value)
    if item.context is not None:
        sheet.context = as_array(item.context[:, rows])
    return sheet


def _place(texts: list[SheetText], tokens: list[str], count: int, name: str) -> int:
    text = SheetText(tokens, name) if tokens else SheetText.numbered(count)
    for place, other in enumerate(texts):
        if other.tokens == text.tokens:
            return place
    texts.append(text)
    return len(texts) - 1


def _log_sums(item: Item, rows: Sequence[int]) -> Tensor:
    """(heads, rows): log-sum-exp of the scores of these rows."""
    whole = 0, item.key.shape[-2]
    scores = [scores_of(item.query, item.key, item.rule, (i, i + 1), whole) for i in rows]
    return torch.cat(scores, -2).logsumexp(-1)


def subject_of_text(
    model: TextModel,
    tokens: TextPieces,
    target: TextPieces | None = None,
    *,
    title: str = "",
    layers: Sequence[int] | None = None,
    start: dict[str, Any] | None = None,
) -> Subject:
    """Run ``model`` over a text (its decoder over ``target``) and keep all that a page shows."""
    with observe(model.network, layers=layers, values=True) as observation:
        model.run(tokens, target)
    observation.tokens = tokens.texts
    texts = [text_of(tokens)]
    if model.has_both:
        texts[0].name = "source"
        observation.tokens = {"encoder": tokens.texts}
        if target is not None:
            texts.append(text_of(target, "target"))
            observation.tokens["decoder"] = target.texts
    subject = subject_of_observation(
        observation, title, model=model.title, start=start, texts=texts
    )
    _check_size(subject.numbers, len(tokens), len(subject.sheets))
    return subject


def check_page(model: TextModel, tokens: TextPieces, layers: Sequence[int] | None = None) -> None:
    """Raise if the page of a long text would be too large, by the size of its beginning."""
    if len(tokens) <= TRIED or model.has_both:
        return
    with observe(model.network, layers=layers, values=True) as observation:
        model.run(tokens.beginning(TRIED))
    sheets = subject_of_observation(observation).sheets
    times, numbers = len(tokens) / TRIED, 0.0
    for sheet in sheets:
        vectors, pairs = (sheet.query, sheet.key, sheet.value), (sheet.weights, sheet.bias)
        numbers += times * sum(part.size for part in vectors if part is not None)
        numbers += times**2 * sum(part.size for part in pairs if part is not None)
    _check_size(numbers, len(tokens), len(sheets))


def _check_size(numbers: float, tokens: int, layers: int) -> None:
    size = numbers * 2.2e-6 if numbers > EXACT else 0
    if size > MOST_MEGABYTES:
        raise RegardError(
            f"a page of {tokens:,} tokens and {layers} layers would have about {size:,.0f} MB, "
            f"more than {MOST_MEGABYTES}: choose one layer with --layer, or look at the text with "
            "'regard serve'"
        )


def text_of(tokens: TextPieces, name: str = "") -> SheetText:
    """What a page knows about a text that a model read."""
    return SheetText(
        tokens.texts,
        name,
        words=[word.start for word in tokens.words],
        special=[i for i, own in enumerate(tokens.special) if own],
        separators=[i for i, own in enumerate(tokens.separators) if own],
    )
