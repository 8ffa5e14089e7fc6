"""Maps: an AttentionMap as a subject of the page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from regard.pieces.marks import from_labels
from regard.pieces.pieces import Pieces
from regard.pieces.sheet import Sheet, Subject, as_array, some

if TYPE_CHECKING:  # who has a map has torch; a trace is shown without it
    from regard.attention.map import AttentionMap


def subjects_of_map(attention: AttentionMap, title: str = "") -> list[Subject]:
    """A map; of a difference both maps, opened where the page compares them."""
    from regard.attention.map import DifferenceMap

    if not isinstance(attention, DifferenceMap):
        return [subject_of_map(attention, title)]
    parts = (attention.first, attention.second)
    found = [subject_of_map(part, f"{title or 'map'} {i}") for i, part in enumerate(parts, 1)]
    found[0].start = {"view": "compare"}
    return found


def subject_of_map(attention: AttentionMap, title: str = "") -> Subject:
    """One head: its queries, keys and rule, or its weights."""
    from regard.attention.map import HeadMap

    queries, keys = attention.shape
    texts = [from_labels(attention.queries) if attention.queries else Pieces.numbered(queries)]
    across = from_labels(attention.keys) if attention.keys else Pieces.numbered(keys)
    if across.labels != texts[0].labels:
        texts.append(across)
    last = len(texts) - 1
    sheet = Sheet("head", 0, 0, last, "cross" if last else "self")
    if isinstance(attention, HeadMap):
        sheet.query, sheet.key = as_array(attention.query)[None], as_array(attention.key)[None]
        sheet.checked = some(queries)
        sheet.lse = as_array(attention.lse)[None, sheet.checked]
        sheet.set_rule(attention.rule)
    else:
        sheet.weights = as_array(attention.dense())[None]
    start = {} if attention.queries else {"view": "map"}
    return Subject(title or f"{queries} × {keys} attention", texts, [sheet], start=start)
