"""Traces: the attention in a Trace as a subject of the page, scope by scope."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from regard.pieces.marks import from_labels
from regard.pieces.pieces import Pieces
from regard.pieces.sheet import Known, Sheet, Subject
from regard.trace import Array, Step, Trace

BY_WORD = ("words", "copied")
"""Of a translation: what each word looked at, and how much of it was copied from where."""
STORED = (*BY_WORD, "alignment", "attention")
"""Whole matrices of mechanisms that made their rows one by one."""
BEFORE = ("word_vectors", "position_vectors", "type_vectors", "embedding", "positions", "input")
COMPUTED = (
    *("queries", "keys", "values", "turned_queries", "turned_keys", "context", "concatenated"),
    "readout",
)
"""What the page computes or carries in another place."""
DECISION = "decision"
"""The learned query of a classifier, which stands for nothing that was read."""
A_STEP = re.compile(r"(.*/|)step (\d+)")


def subject_of_trace(
    trace: Trace,
    title: str = "",
    *,
    model: str = "",
    notes: Sequence[str] = (),
    start: dict[str, Any] | None = None,
    text: Pieces | None = None,
) -> Subject:
    """Every attention of the trace: vectors where weights are dot products of them, or weights.

    ``text`` says more about the trace's tokens: their words, and which are special.
    """
    scopes: dict[str, dict[str, Step]] = {}
    for step in trace:
        scopes.setdefault(step.scope, {})[step.name] = step
    texts: list[Pieces] = [] if text is None else [text]
    found = []
    for scope, steps in scopes.items():
        for name in STORED:
            if name in steps:
                found.append((_stored(trace, scope, scopes, name, texts), steps[name]))
        if "weights" in steps and not _is_row(scope, scopes):
            found.append((_computed(trace, scope, scopes, texts), steps["weights"]))
    found.sort(key=lambda pair: pair[0].name != "words")  # what a translation is opened for
    sheets = [sheet for sheet, _ in found]
    words = " ".join(trace.tokens)
    shown = title or words or trace.mechanism or "Attention"
    return Subject(
        shown,
        texts,
        sheets,
        model,
        trace.mechanism,
        list(notes),
        dict(start or _start(texts)),
        picture=_heads(found[0][1])[0] if found else None,
    )


def _start(texts: Sequence[Pieces]) -> dict[str, Any]:
    """Where the page opens by itself; positions without a text are opened for their steps."""
    numbered = all(text.labels == Pieces.numbered(len(text)).labels for text in texts)
    return {"view": "steps"} if numbered else {}


def _is_row(scope: str, scopes: dict[str, dict[str, Step]]) -> bool:
    """Whether the scope is one row of a matrix that the scope around it has."""
    found = A_STEP.fullmatch(scope)
    return found is not None and any(n in scopes.get(found[1].rstrip("/"), {}) for n in STORED)


def _computed(
    trace: Trace, scope: str, scopes: dict[str, dict[str, Step]], texts: list[Pieces]
) -> Sheet:
    steps = scopes[scope]
    weights = _heads(steps["weights"])
    sheet = _sheet(trace, scope, steps["weights"], texts)
    sheet.heads = range(len(weights))
    query = steps.get("turned_queries", steps.get("queries"))
    key = steps.get("turned_keys", steps.get("keys"))
    sheet.value = _heads(steps["values"]) if "values" in steps else None
    scale = None
    if query is not None and key is not None and "scores" in steps:
        q, k = _heads(query), _heads(key)
        scale = _scale(q, k, _heads(steps["scores"]), steps.get("scaled"))
    if scale is None:
        sheet.weights = weights
    else:
        sheet.query, sheet.key, sheet.scale = q, k, scale
    if "mask" in steps and scale is not None:
        _set_mask(sheet, _heads(steps["mask"]))
    if "context" in steps and sheet.value is not None:
        sheet.context = _heads(steps["context"])
        sheet.checked = range(weights.shape[-2])
    _set_known(sheet, scopes, scope)
    return sheet


def _stored(
    trace: Trace, scope: str, scopes: dict[str, dict[str, Step]], name: str, texts: list[Pieces]
) -> Sheet:
    """A matrix that was made row by row, with the values that its rows mixed."""
    steps = scopes[scope]
    sheet = _sheet(trace, scope, steps[name], texts)
    sheet.weights = _heads(steps[name])
    sheet.heads = range(len(sheet.weights))
    sheet.recurrent = sheet.kind == "self" or name == "alignment"
    sheet.name = name if name in BY_WORD else sheet.name
    if name not in BY_WORD:
        _set_rows(sheet, scope, scopes)
        _set_known(sheet, scopes, scope)
    return sheet


def _set_rows(sheet: Sheet, scope: str, scopes: dict[str, dict[str, Step]]) -> None:
    """Values and contexts out of the scopes ``step 1``, ``step 2``, … of the rows."""
    found = [A_STEP.fullmatch(other) for other in scopes]
    rows = {
        int(f[2]): scopes[f[0]]
        for f in found
        if f is not None and f[1].rstrip("/") == scope and "values" in scopes[f[0]]
    }
    if not rows or sheet.weights is None:
        return
    values = _heads(rows[max(rows)]["values"])
    queries, keys = sheet.shape
    width = values.shape[-1]
    sheet.value = np.zeros((1, keys, width), values.dtype)
    sheet.value[:, : values.shape[1]] = values  # the last word is on no tape when it looks back
    sheet.context = np.zeros((1, queries, width), values.dtype)
    for number, row in rows.items():
        if number <= queries and "context" in row:
            sheet.context[0, number - 1] = _heads(row["context"])[0, 0]
    sheet.checked = range(queries)


def _sheet(trace: Trace, scope: str, step: Step, texts: list[Pieces]) -> Sheet:
    down, across = step.axes[-2:]
    queries, keys = step.shape[-2:]
    sides = "target" if scope.startswith("decoder") or down == "target" else "", ""
    own = [DECISION] if scope.endswith("readout") and queries == 1 else None
    first = _text(trace, step.labels.get(down) or own, queries, sides[0], texts)
    second = _text(trace, step.labels.get(across), keys, "", texts)
    cross = "cross" in scope or first != second
    if cross:
        texts[first] = replace(texts[first], name="target")
        texts[second] = replace(texts[second], name="source")
    number = re.search(r"layer (\d+)", scope)
    part = next((word for word in ("encoder", "decoder") if word in scope), "")
    name = scope or ("alignment" if step.name in STORED else "attention")
    kind = "cross" if cross else "self"
    return Sheet(name, int(number[1]) if number else 0, first, second, kind, part)


def _text(
    trace: Trace, labels: list[str] | None, count: int, name: str, texts: list[Pieces]
) -> int:
    """The place of the text among ``texts``, added if it is not there."""
    if labels is None and len(trace.tokens) == count and name != "target":
        labels = trace.tokens
    text = from_labels(labels, name) if labels else Pieces.numbered(count)
    for place, other in enumerate(texts):
        if other.labels in (labels, text.labels) and (not name or other.name in ("", name)):
            return place
    texts.append(text)
    return len(texts) - 1


def _heads(step: Step) -> Array:
    """The numbers of the first batch item with an axis for the heads: (heads, rows, columns)."""
    value, axes = step.value, list(step.axes)
    while axes and axes[0].startswith("batch"):
        value, axes = value[0], axes[1:]
    return value.reshape((1,) * (3 - value.ndim) + value.shape)


def _scale(q: Array, k: Array, scores: Array, scaled: Step | None) -> float | None:
    """What the dot products were multiplied by; None if the scores are no dot products."""
    if q.shape[-1] != k.shape[-1] or len(q) % len(k):
        return None
    products = q @ np.repeat(k, len(q) // len(k), axis=0).swapaxes(-1, -2)
    size = max(1e-6, float(np.abs(products).max(initial=0)))
    if products.shape != scores.shape or float(np.abs(products - scores).max()) > 1e-3 * size:
        return None
    if scaled is None:
        return 1.0
    usual = float(q.shape[-1] ** -0.5)
    square = float((scores * scores).sum())
    if square == 0:
        return usual
    scale = float((scores * _heads(scaled)).sum()) / square
    return usual if abs(scale - usual) < 1e-5 * usual else scale


def _set_mask(sheet: Sheet, allowed: Array) -> None:
    queries, keys = sheet.shape
    if queries == keys and bool((allowed == np.tri(queries, dtype=bool)).all()):
        sheet.causal = True
    elif not bool(allowed.all()):
        sheet.allowed = allowed


def _set_known(sheet: Sheet, scopes: dict[str, dict[str, Step]], scope: str) -> None:
    """Vectors of the positions, noted before and after: in the layer, and in the one around it."""
    around = scope.rpartition("/")[0]
    groups = [(False, scopes[scope]), (True, scopes[scope])]
    if around != scope:
        groups.append((True, scopes.get(around, {})))
    if sheet.number == 0 and sheet.part != "decoder":
        groups.insert(0, (False, scopes.get("", {})))
    for after, steps in groups:
        names = [name for name in steps if (name in BEFORE) != after and name not in sheet.known]
        for name in names:
            step = steps[name]
            if step.axes[-1] not in ("width", "hidden") or name in COMPUTED or step.derived:
                continue
            value = _heads(step)
            if value.shape[:2] == (1, sheet.shape[0]):
                known = Known(value[0], step.formula, step.meaning, after)
                sheet.known[name] = known
