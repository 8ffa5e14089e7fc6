"""Worked examples that several tests change."""

from __future__ import annotations

from regard.worked.example import Example


def tutorial(**changes: object) -> Example:
    example = Example.load("tutorial-printed")
    return Example(**{**vars(example), **changes})  # type: ignore[arg-type]


def two_heads(layout: str = "columns-are-outputs", **claims: object) -> Example:
    example = Example.load("two-heads")
    rows = layout == "rows-are-outputs"
    matrices = {n: w.T.copy() if rows else w for n, w in example.matrices.items()}
    changes = {"matrices": matrices, "layout": layout, "claims": claims}
    return Example(**{**vars(example), **changes})  # type: ignore[arg-type]
