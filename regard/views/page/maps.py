"""Maps: an AttentionMap as a subject of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from regard.pieces.sheet import Sheet, SheetText, Subject, some
from regard.trace import Array

if TYPE_CHECKING:
    from regard.attention.map import AttentionMap


def subject_of_map(attention: AttentionMap, title: str = "") -> Subject:
    """One head: its queries, keys and rule, or its weights."""
    queries, keys = attention.shape
    texts = [SheetText(attention.queries) if attention.queries else SheetText.numbered(queries)]
    across = SheetText(attention.keys) if attention.keys else SheetText.numbered(keys)
    if across.tokens != texts[0].tokens:
        texts.append(across)
    last = len(texts) - 1
    sheet = Sheet("head", 0, 0, last, "cross" if last else "self")
    query = getattr(attention, "query", None)
    if query is None:
        sheet.weights = as_array(attention.dense())[None]
    else:
        sheet.query = as_array(query)[None]
        sheet.key = as_array(getattr(attention, "key", None))[None]
        sheet.checked = some(queries)
        sheet.lse = as_array(getattr(attention, "lse", None))[None, sheet.checked]
        set_rule(sheet, getattr(attention, "rule", None))
    start = {"view": "map"}
    return Subject(title or f"{queries} × {keys} attention", texts, [sheet], start=start)


def set_rule(sheet: Sheet, rule: Any) -> None:
    """Take over scale, mask, bias and soft cap of a layer's ``Rule``."""
    sheet.scale, sheet.softcap = float(rule.scale), rule.softcap
    sheet.bias = None if rule.bias is None else as_array(rule.bias)
    mask = rule.mask
    if mask is not None:
        sheet.causal, sheet.before, sheet.after = mask.causal, mask.before, mask.after
        sheet.allowed = None if mask.allowed is None else mask.allowed.detach().cpu().numpy()


def as_array(tensor: Any) -> Array:
    """A NumPy array of a tensor of any float type."""
    array: Array = tensor.detach().float().cpu().numpy()
    return array
