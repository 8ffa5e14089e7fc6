"""Fields: the values of a worked example's TOML file, each checked by itself.

Each function takes the whole content and a key, and returns the value or raises an error that
says what was expected and what was got.
"""

from __future__ import annotations

import math
import sys
from decimal import Decimal
from typing import Any

import numpy as np

from regard.errors import ExampleError, nearest
from regard.trace import Array
from regard.worked.source import KeyedError


def wrong(key: str, text: str, *, claimed: bool = False) -> ExampleError:
    """The error about ``key`` (of the table of claims if ``claimed``), to be raised."""
    error = KeyedError(text)
    error.key, error.claimed = key, claimed
    return error


def finite(key: str, value: Any, name: str, *, claimed: bool = False) -> float:
    """``value`` as a float; an error that calls it ``name`` unless it is a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        raise wrong(key, f"{name} must be a number, got {shown(value)}", claimed=claimed)
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        most = f"{sys.float_info.max:.1e}"
        raise wrong(
            key, f"{name} must be finite, at most {most}, got {shown(value)}", claimed=claimed
        )
    return number


def shown(value: Any) -> str:
    """A value as its file has it, for an error: short, whatever it is."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) and abs(value) >= 10**20:
        # Its digits would fill the screen, and Python refuses to print more than 4300 of them.
        return "a whole number of more than 20 digits"
    if isinstance(value, list | dict):
        return "a list" if isinstance(value, list) else "a table"
    text = repr(value) if isinstance(value, str) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}…"


def count(n: int, noun: str) -> str:
    """``1 number``, ``2 numbers``."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"


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
                f"{key} is ragged: row 1 has {count(len(rows[0]), 'number')}, row {i + 1} has "
                f"{len(row)}; all rows must be of one length",
            )
    numbers = [
        [finite(key, number, f"{key}[{i}][{j}]") for j, number in enumerate(row)]
        for i, row in enumerate(rows)
    ]
    return np.array(numbers, dtype=np.float64)


def mask(content: dict[str, Any], n: int) -> Array | str | None:
    """ "causal", or a boolean n × n matrix, True = may attend; None if not given."""
    rows = content.get("mask")
    if rows is None or rows == "causal":
        return rows
    good = isinstance(rows, list) and all(
        isinstance(row, list) and all(isinstance(v, bool) for v in row) for row in rows
    )
    if not good:
        got = f", got {shown(rows)}" if not isinstance(rows, list) else ""
        hint = nearest(rows, ("causal",)) if isinstance(rows, str) else ""
        raise wrong(
            "mask", f'mask must be "causal" or rows of true (may attend) and false{got}{hint}'
        )
    if len(rows) != n or any(len(row) != n for row in rows):
        widths = sorted({len(row) for row in rows})
        width = widths[0] if len(widths) == 1 else f"({' or '.join(map(str, widths)) or 0})"
        raise wrong(
            "mask", f"mask must be {n} x {n}, a row for each query, got {len(rows)} x {width}"
        )
    return np.array(rows, dtype=np.bool_)


def tokens(content: dict[str, Any], n: int) -> list[str]:
    """A text for each of the n vectors; x1, x2, … if not given."""
    value = content.get("tokens", [f"x{i + 1}" for i in range(n)])
    if not isinstance(value, list) or not all(isinstance(t, str) for t in value):
        raise wrong("tokens", "tokens must be a list of texts")
    if len(value) != n:
        raise wrong(
            "tokens",
            f"there must be a token for each row of x: {count(n, 'row')}, "
            f"{count(len(value), 'token')}",
        )
    return value


def choice(content: dict[str, Any], key: str, known: tuple[str, ...], default: Any) -> Any:
    """One of the ``known`` texts."""
    value = content.get(key, default)
    if key in content and value not in known:
        hint = nearest(value, known) if isinstance(value, str) else ""
        raise wrong(key, f"{key} must be one of {', '.join(known)}, got {shown(value)}{hint}")
    return value


def whole(content: dict[str, Any], key: str, default: int) -> int:
    """A whole number of 1 or more."""
    value = content.get(key, default)
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise wrong(key, f"{key} must be a whole number of 1 or more, got {shown(value)}")
    return value


def positive(content: dict[str, Any], key: str) -> float | None:
    """A number above 0; None if not given."""
    if key not in content:
        return None
    number = finite(key, content[key], key)
    # What is smaller than that is 0, or nearly: its square root divides to infinity.
    if number < sys.float_info.min:
        raise wrong(key, f"{key} must be a number above 0, got {shown(content[key])}")
    return number


def text(content: dict[str, Any], key: str) -> str:
    """A text; empty if not given."""
    value = content.get(key, "")
    if not isinstance(value, str):
        raise wrong(key, f'{key} must be a text in quotes, got {shown(value)}; write {key} = "…"')
    return value


def table(content: dict[str, Any], key: str) -> dict[str, Any]:
    """A TOML table; empty if not given."""
    value = content.get(key, {})
    if not isinstance(value, dict):
        raise wrong(key, f"{key} must be a table: [{key}] and a line for each step")
    return value
