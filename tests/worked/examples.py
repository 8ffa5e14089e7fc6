"""Worked examples that several tests change."""

from __future__ import annotations

from regard.worked.example import Example


def tutorial(**changes: object) -> Example:
    example = Example.load("tutorial-printed")
    return Example(**{**vars(example), **changes})


def two_heads(layout: str = "columns-are-outputs", **claims: object) -> Example:
    example = Example.load("two-heads")
    rows = layout == "rows-are-outputs"
    turned = {n: w.T.copy() if rows and n != "x" else w for n, w in example.given.items()}
    changes = {"given": turned, "layout": layout, "claims": claims}
    return Example(**{**vars(example), **changes})
