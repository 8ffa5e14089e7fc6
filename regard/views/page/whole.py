"""Whole: the way of a word as the page's JSON: sizes, first numbers, predictions, who said it."""

from __future__ import annotations

from typing import Any

import numpy as np

from regard.pieces.whole import WholeWay
from regard.trace import Step
from regard.views.terminal.whole import SYMBOLS, format_proof

SHOWN = 8
"""Numbers of a vector that the page has."""
MOST = 20
"""Parts of a score that the page has, the strongest."""


def whole_data(way: WholeWay) -> dict[str, Any]:
    """What the page shows of it."""
    return {
        "tokens": way.reading.labels,
        "row": way.row,
        "kind": way.kind,
        "proof": format_proof(way),
        "layers": [_layer(way, i) for i in range(way.shape[0])],
        "predictions": [
            {"word": said.word, "probability": said.probability} for said in way.predictions
        ],
        "parts": _parts(way),
    }


def _layer(way: WholeWay, number: int) -> dict[str, Any]:
    steps = [step for step in way.trace if step.scope == f"layer {number}"]
    added = [step for step in steps if SYMBOLS[step.name].startswith("+ ")]
    return {
        "size": _size(steps[-1]),
        "parts": [
            {"kind": step.name.replace("_", "-").removesuffix("-attention"), "size": _size(step)}
            for step in added
        ],
        "steps": [
            {
                "name": SYMBOLS[step.name],
                "formula": step.formula,
                "meaning": step.meaning,
                "size": _size(step),
                "start": [float(v) for v in step.value[:SHOWN]],
            }
            for step in steps
        ],
    }


def _size(step: Step) -> float:
    return float(np.linalg.norm(step.value))


def _parts(way: WholeWay) -> dict[str, Any] | None:
    if way.parts is None:
        return None
    strongest = sorted(way.parts.parts, key=lambda part: -abs(part.score))[:MOST]
    return {
        "word": way.parts.word.word,
        "score": way.parts.own,
        "total": way.parts.total,
        "rows": [{"name": part.name, "score": part.score} for part in strongest],
    }
