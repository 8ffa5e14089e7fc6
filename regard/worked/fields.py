"""Fields: the values of a worked example's TOML file, each checked by itself.

Each function takes the whole content and a key, and returns the value or raises an error that
says what was expected and what was got.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import numpy as np

from regard.errors import ExampleError, nearest
from regard.trace import Array


class KeyedError(ExampleError):
    """An error that knows the key it is about, so that the line can be named."""

    key = ""


def wrong(key: str, text: str) -> ExampleError:
    """The error about ``key``, to be raised."""
    error = KeyedError(text)
    error.key = key
    return error


def line_of(text: str, error: ExampleError) -> str:
    """``, line 7`` if the error is about a key that stands there."""
    key = re.escape(getattr(error, "key", ""))
    found = re.search(rf"(?m)^\s*[\"']?{key}[\"']?\s*=|^\s*\[{key}\]", text) if key else None
    return f", line {text.count(chr(10), 0, found.start() + 1) + 1}" if found else ""


def matrix(content: dict[str, Any], key: str) -> Array:
    """Rows of finite numbers, all of one length."""
    if key not in content:
        raise wrong(key, f"{key} is missing: a list of rows of numbers")
    rows = content[key]
    if not isinstance(rows, list) or not rows or not all(isinstance(r, list) and r for r in rows):
        raise wrong(key, f"{key} must be a list of rows of numbers, like [[1, 0], [0, 1]]")
    for i, row in enumerate(rows):
        if len(row) != len(rows[0]):
            raise wrong(
                key,
                f"{key} is ragged: row 1 has {len(rows[0])} numbers, row {i + 1} has "
                f"{len(row)}; all rows must be of one length",
            )
        for j, number in enumerate(row):
            if isinstance(number, bool) or not isinstance(number, int | Decimal):
                raise wrong(key, f"{key}[{i}][{j}] must be a number, got {number!r}")
            if not math.isfinite(number):
                raise wrong(key, f"{key}[{i}][{j}] must be finite, got {number}")
    return np.array(rows, dtype=np.float64)


def mask(content: dict[str, Any], n: int) -> Array | str | None:
    """ "causal", or a boolean n × n matrix, True = may attend; None if not given."""
    rows = content.get("mask")
    if rows is None or rows == "causal":
        return rows
    good = isinstance(rows, list) and all(
        isinstance(row, list) and all(isinstance(v, bool) for v in row) for row in rows
    )
    if not good:
        raise wrong("mask", 'mask must be "causal" or rows of true (may attend) and false')
    if len(rows) != n or any(len(row) != n for row in rows):
        raise wrong(
            "mask",
            f"mask must be {n} x {n}, a row for each query, got "
            f"{len(rows)} x {len(rows[0]) if rows else 0}",
        )
    return np.array(rows, dtype=np.bool_)


def choice(content: dict[str, Any], key: str, known: tuple[str, ...], default: Any) -> Any:
    """One of the ``known`` texts."""
    value = content.get(key, default)
    if key in content and value not in known:
        hint = nearest(value, known) if isinstance(value, str) else ""
        raise wrong(key, f"{key} must be one of {', '.join(known)}, got {value!r}{hint}")
    return value


def whole(content: dict[str, Any], key: str, default: int) -> int:
    """A whole number of 1 or more."""
    value = content.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise wrong(key, f"{key} must be a whole number of 1 or more, got {value!r}")
    return value


def positive(content: dict[str, Any], key: str) -> float | None:
    """A number above 0; None if not given."""
    value = content.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | Decimal) or not value > 0:
        raise wrong(key, f"{key} must be a number above 0, got {value!r}")
    return float(value)


def table(content: dict[str, Any], key: str) -> dict[str, Any]:
    """A TOML table; empty if not given."""
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise wrong(key, f"{key} must be a table: [{key}] and a line for each step")
    return value
