"""Parts: what the page asks of a look, packed as the page reads it."""

from __future__ import annotations

from typing import Any

from regard.errors import RegardError
from regard.inside.look.exploration import Exploration, Measurement
from regard.views.page.data import measure_data
from regard.views.page.file import document
from regard.views.page.pack import Pack


def whole(look: Exploration) -> dict[str, Any]:
    """The page's data: everything of a short text; of a long one, what layers there are."""
    subject, shapes = look.subject()
    content, packed = document([subject])
    for layer, shape in zip(content["subjects"][0]["layers"], shapes, strict=True):
        layer["shape"] = list(shape)
        layer["remote"] = subject.numbers == 0
    return {"document": content, "packed": packed}


def measured(look: Exploration) -> dict[str, Any]:
    """The layers of a measure that was asked for, as a page carries them."""
    if not isinstance(look, Measurement) or look.found is None:
        raise RegardError("this look is of weights: POST its address with /measures for a measure")
    pack = Pack(half=True)
    return {**measure_data(look.found, pack), "arrays": pack.entries, "packed": pack.text()}


def heads(look: Exploration, layer: int) -> dict[str, Any]:
    """Kind, entropy, largest weight and a small picture of every head of a layer."""
    found = look.heads(layer)
    pack = Pack(half=True)
    pack.add(found.pictures)
    rows = [
        {"kind": seen.kind, "share": seen.scores.get(seen.kind), "entropy": entropy, "most": most}
        for seen, entropy, most in zip(found.kinds, found.entropy, found.most, strict=True)
    ]
    return {"heads": rows, "arrays": pack.entries, "packed": pack.text()}


def head(look: Exploration, layer: int, number: int) -> dict[str, Any]:
    """The vectors of one head, as a page carries them."""
    sheet = look.head(layer, number)
    pack = Pack(half=True)
    parts = {
        "weights": pack.add(sheet.weights, exact=True),
        "query": pack.add(sheet.query),
        "key": pack.add(sheet.key),
        "value": pack.add(sheet.value),
        "allowed": pack.add(sheet.allowed),
        "bias": pack.add(sheet.bias),
    }
    return {"parts": parts, "arrays": pack.entries, "packed": pack.text()}


def link(look: Exploration, row: int, column: int) -> dict[str, Any]:
    """The weight of one link in every head of every layer."""
    return {"query": row, "key": column, "layers": look.link(row, column)}


def contexts(look: Exploration, layer: int, row: int) -> dict[str, Any]:
    """What one token takes in every head of a layer; null if the values are not there."""
    return {"query": row, "heads": look.contexts(layer, row)}


def row(look: Exploration, layer: int, head: int, number: int) -> dict[str, Any]:
    """One row of weights as JSON, for scripts."""
    return {"query": number, "weights": look.map(layer, head)[number].tolist()}


def tile(look: Exploration, layer: int, head: int, level: int, down: int, across: int) -> bytes:
    """The cells of a tile, row by row, as 32-bit floats."""
    return look.tile(layer, head, level, down, across).astype("<f4").tobytes()
