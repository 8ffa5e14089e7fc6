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
from regard.text import number_of
from regard.trace import Array
from regard.worked.dialect import Option
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


def array(content: dict[str, Any], key: str, axes: int) -> Array:
    """Finite numbers, nested so many lists deep: a row of them, rows, or rows for each head."""
    if key not in content:
        raise wrong(key, f"{key} is missing: {FORMS[axes][0]}")
    return _nested(key, key, content[key], axes)


FORMS = {
    1: ("a list of numbers", "[1, 0]"),
    2: ("a list of rows of numbers", "[[1, 0], [0, 1]]"),
    3: ("a list of matrices, one for each head", "[[[1, 0], [0, 1]], [[0, 1], [1, 0]]]"),
}
"""How an array of so many axes is called, and an example of one."""


def _nested(key: str, name: str, parts: Any, axes: int) -> Array:
    called, like = FORMS[axes]
    deeper = axes > 1
    if not isinstance(parts, list) or not parts:
        raise wrong(key, f"{name} must be {called}, like {like}")
    if deeper and not all(isinstance(part, list) and part for part in parts):
        raise wrong(key, f"{name} must be {called}, like {like}")
    if not deeper:
        return np.array([finite(key, n, f"{name}[{i}]") for i, n in enumerate(parts)])
    rows = [len(part) for part in parts]
    for i, length in enumerate(rows):
        if length != rows[0]:
            noun = "number" if axes == 2 else "row"
            raise wrong(
                key,
                f"{name} is ragged: row 1 has {number_of(rows[0], noun)}, row {i + 1} has "
                f"{length}; all rows must be of one length",
            )
    made = [_nested(key, f"{name}[{i}]", part, axes - 1) for i, part in enumerate(parts)]
    for i, part in enumerate(made):
        if part.shape != made[0].shape:
            raise wrong(
                key,
                f"{name} is ragged: {name}[0] has the shape {times(made[0].shape)}, {name}[{i}] "
                f"has {times(part.shape)}; all must be of one shape",
            )
    return np.array(made, dtype=np.float64)


def times(shape: tuple[int, ...]) -> str:
    """``3 x 4``"""
    return " x ".join(map(str, shape))


RULES = ("causal", "padding", "window", "matrix")
"""What a mask may be made of; all that are given must allow."""


def mask(content: dict[str, Any], queries: int, keys: int) -> dict[str, Any] | None:
    """The rules of the mask by name; None if there is none.

    "causal", or boolean rows (True = may attend), or a table: causal = true, padding = how many
    keys are real, window = how far a query sees, or [back, ahead], matrix = boolean rows.
    """
    given = content.get("mask")
    if given is None:
        return None
    if isinstance(given, list):
        given = {"matrix": given}
    if given == "causal":
        given = {"causal": True}
    if not isinstance(given, dict) or not given:
        hint = nearest(given, ("causal",)) if isinstance(given, str) else ""
        raise wrong(
            "mask",
            'mask must be "causal" or rows of true (may attend) and false, or a table such as '
            f"{{padding = 2}} or {{window = 1}}, got {shown(given)}{hint}",
        )
    rules = {}
    for name, value in given.items():
        if name not in RULES:
            hint = nearest(name, RULES) or f"; known: {', '.join(RULES)}"
            raise wrong("mask", f"unknown rule of the mask {shown(name)}{hint}")
        rules[name] = _rule(name, value, queries, keys)
    return rules


def _rule(name: str, value: Any, queries: int, keys: int) -> Any:
    if name == "matrix":
        return _allowed(value, queries, keys)
    if name == "causal":
        if value is not True:
            raise wrong("mask", f"mask.causal must be true or left out, got {shown(value)}")
        return True
    if name == "padding":
        if not _is_whole(value) or value > keys:
            raise wrong(
                "mask",
                "mask.padding is how many of the keys are real, a whole number from 0 to "
                f"{keys}, got {shown(value)}",
            )
        return value
    both = value if isinstance(value, list) else [value, value]
    if len(both) != 2 or not all(map(_is_whole, both)):
        raise wrong(
            "mask",
            "mask.window is how many positions a query sees back and ahead, a whole number or "
            f"[back, ahead], got {shown(value)}",
        )
    return tuple(both)


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def _allowed(rows: Any, queries: int, keys: int) -> Array:
    """A boolean queries × keys matrix."""
    good = isinstance(rows, list) and all(
        isinstance(row, list) and all(isinstance(v, bool) for v in row) for row in rows
    )
    if not good:
        got = f", got {shown(rows)}" if not isinstance(rows, list) else ""
        raise wrong("mask", f'mask must be "causal" or rows of true (may attend) and false{got}')
    if len(rows) != queries or any(len(row) != keys for row in rows):
        widths = sorted({len(row) for row in rows})
        width = widths[0] if len(widths) == 1 else f"({' or '.join(map(str, widths)) or 0})"
        raise wrong(
            "mask",
            f"mask must be {queries} x {keys}, a row for each query, got {len(rows)} x {width}",
        )
    return np.array(rows, dtype=np.bool_)


def tokens(content: dict[str, Any], n: int, of: str = "row of x", key: str = "tokens") -> list[str]:
    """A text for each of the n vectors; x1, x2, … if not given."""
    letter = "x" if key == "tokens" else "m"
    value = content.get(key, [f"{letter}{i + 1}" for i in range(n)])
    if not isinstance(value, list) or not all(isinstance(t, str) for t in value):
        raise wrong(key, f"{key} must be a list of texts")
    if len(value) != n:
        noun = of.split()[0]
        raise wrong(
            key,
            f"there must be a token for each {of}: {number_of(n, noun)}, "
            f"{number_of(len(value), 'token')}",
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


def option(content: dict[str, Any], key: str, kind: Option) -> Any:
    """A setting of one mechanism: one of its choices, or a number that is large enough."""
    if kind.choices:
        return choice(content, key, kind.choices, kind.default)
    if key not in content:
        return kind.default
    value = content[key]
    number = finite(key, value, key)
    low = number <= kind.least if kind.above else number < kind.least
    if low or (kind.whole and not isinstance(value, int)):
        called = "a whole number" if kind.whole else "a number"
        least = f"above {kind.least:g}" if kind.above else f"of {kind.least:g} or more"
        raise wrong(key, f"{key} must be {called} {least}, got {shown(value)}")
    return value if kind.whole else number


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
