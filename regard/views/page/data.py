"""Data: a subject as the page's JSON, its arrays packed."""

from __future__ import annotations

from typing import Any

from regard.pieces.pieces import Pieces
from regard.pieces.sheet import MeasureSheets, Sheet, Subject
from regard.trace import Array
from regard.views.page.backdrop import backdrop_data
from regard.views.page.pack import Pack
from regard.views.page.whole import whole_data


def subject_data(subject: Subject, pack: Pack) -> dict[str, Any]:
    """What a page knows of a subject; its arrays are put into ``pack``."""
    known: dict[str, Any] = {
        "title": subject.title,
        "model": subject.model,
        "mechanism": subject.mechanism,
        "notes": subject.notes,
        "start": subject.start,
        "texts": [text_data(pieces) for pieces in subject.texts],
        "layers": [sheet_data(sheet, pack) for sheet in subject.sheets],
    }
    if subject.whole is not None:
        known["whole"] = whole_data(subject.whole)
    if subject.measures:
        known["measures"] = [measure_data(found, pack) for found in subject.measures]
    if subject.trials is not None:
        known["trials"] = subject.trials.to_dict()
    return known


def measure_data(found: MeasureSheets, pack: Pack) -> dict[str, Any]:
    """A measure: its layers in the places of the subject's, or why there are none."""
    return {
        "name": found.name,
        "reason": found.reason,
        "scored": found.scored,
        "layers": [
            None if sheet is None else sheet_data(sheet, pack, exact=False)
            for sheet in found.sheets
        ],
    }


def text_data(pieces: Pieces) -> dict[str, Any]:
    """Tokens, and by number: where words begin, which are special, separators or unknown; and the
    thing that they are drawn on, if there is one."""
    known = {
        "name": pieces.name,
        "tokens": pieces.labels,
        "words": [word.start for word in pieces.words],
        "names": [word.text for word in pieces.words],
        "special": [i for i, own in enumerate(pieces.special) if own],
        "separators": [i for i, own in enumerate(pieces.separators) if own],
        "unknown": [i for i, own in enumerate(pieces.unknown) if own],
    }
    behind = backdrop_data(pieces)
    return known if behind is None else known | {"backdrop": behind}


def sheet_data(sheet: Sheet, pack: Pack, *, exact: bool = True) -> dict[str, Any]:
    """One layer: its rule, and where in the pack its arrays are; ``exact``: weights that are all
    that there is stay in float32."""
    return {
        "name": sheet.name,
        "number": sheet.number,
        "kind": sheet.kind,
        "part": sheet.part,
        "recurrent": sheet.recurrent,
        "texts": [sheet.queries, sheet.keys],
        "shape": list(sheet.shape),
        "heads": list(sheet.heads),
        "scale": sheet.scale,
        "causal": sheet.causal,
        "before": sheet.before,
        "after": sheet.after,
        "softcap": sheet.softcap,
        "query": pack.add(sheet.query),
        "key": pack.add(sheet.key),
        "value": pack.add(sheet.value),
        "weights": pack.add(sheet.weights, exact=exact and sheet.query is None),
        "allowed": pack.add(_three(sheet.allowed)),
        "bias": pack.add(_three(sheet.bias)),
        "lse": pack.add(sheet.lse, exact=True),
        "context": pack.add(sheet.context, exact=True),
        "checked": list(sheet.checked),
        "known": {
            name: {
                "value": pack.add(known.value),
                "formula": known.formula,
                "meaning": known.meaning,
                "after": known.after,
            }
            for name, known in sheet.known.items()
        },
    }


def _three(array: Array | None) -> Array | None:
    """With axes for heads, queries and keys, each of them one long where it broadcasts."""
    return None if array is None else array.reshape((1,) * (3 - array.ndim) + array.shape)
