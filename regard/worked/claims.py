"""Claims: the numbers that a worked example's file claims, gathered by step.

A claimed number is right if the true one rounds to it: 0.48 means within 0.005, 0.5987 within
0.00005, a whole number means exactly that. ``tolerance`` in the file replaces that rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np

from regard.errors import ExampleError, nearest
from regard.text import number_of
from regard.trace import Array, Trace
from regard.worked.example import Example
from regard.worked.fields import finite, shown, times, wrong

BLANK = "?"
"""Stands in a file for a number that is still to be filled in: it is not claimed."""
EXACT = 1e-9
"""What float64 arithmetic may be off by."""

Index = tuple[int, ...]

MOST = 16
"""Steps that an error names."""


@dataclass(frozen=True)
class Claim:
    """The numbers claimed for one step: NaN where nothing is claimed."""

    step: str
    value: Array
    tolerance: Array

    @property
    def made(self) -> Array:
        """Which numbers are claimed."""
        return np.isfinite(self.value)

    @property
    def unit(self) -> Array:
        """What the last written digit counts: 0.01 for 0.48, 1 for a whole number."""
        exact = self.tolerance <= EXACT
        return np.where(exact, 1.0, 2 * self.tolerance)


def claims_of(example: Example, trace: Trace) -> dict[str, Claim]:
    """The claims by step; each line of the file is a whole array or an indexed part of it."""
    gathered: dict[str, Claim] = {}
    before: dict[str, list[tuple[Index, str]]] = {}
    for key, content in example.claims.items():
        written, index = _parse(key)
        name = _step(key, written, trace)
        shape = trace.value(name).shape
        if len(index) > len(shape) or any(i >= n for i, n in zip(index, shape, strict=False)):
            raise _wrong(key, f": {name} has the shape {times(shape)}, counted from 0")
        _check_overlap(key, index, before.setdefault(name, []))
        claim = gathered.setdefault(name, Claim(name, np.full(shape, np.nan), np.zeros(shape)))
        value, tolerance = _numbers(key, content, shape[len(index) :], example.tolerance)
        claim.value[index], claim.tolerance[index] = value, tolerance
    if not gathered:
        raise _nothing()
    return gathered


def check_written(example: Example) -> None:
    """Raise for claims that no computation can make right: asked before any is done."""
    try:
        for key, content in example.claims.items():
            _parse(key)
            if _shape(content) is None:
                raise _wrong(key, " has rows of different lengths")
            for leaf in _leaves(content):
                _number(key, leaf)
        if not example.claims:
            raise _nothing()
    except ExampleError as error:
        raise example.located(error) from error


def _nothing() -> ExampleError:
    return wrong(
        "claims",
        'nothing is claimed: add a [claims] table with a line for a step, such as "scores[0]" '
        "= [0.48, 0.80], or use 'regard explain --example' to see the numbers",
    )


def blanks(example: Example) -> int:
    """How many numbers are still to be filled in."""
    return sum(leaf == BLANK for content in example.claims.values() for leaf in _leaves(content))


def allowance(number: int | Decimal) -> float:
    """How far the true number may be from this one and still round to it."""
    if isinstance(number, int):
        return EXACT
    exponent = number.as_tuple().exponent
    # Zero may be written with any exponent, 0e999: a power that no float holds.
    return 0.5 * 10.0 ** min(exponent, 300) + EXACT if isinstance(exponent, int) else 0.0


def _wrong(key: str, text: str) -> ExampleError:
    name = key if len(key) <= 60 else f"{key[:57]}…"
    return wrong(key, f"claims.{name}{text}", claimed=True)


def _parse(key: str) -> tuple[str, Index]:
    """``scores[0][2]`` or ``scores[0, 2]`` → ("scores", (0, 2)); ``step 2/state`` is a name too."""
    # No array has a billion rows, and int() refuses thousands of digits.
    number = r"\s*[0-9]{1,9}\s*"
    found = re.fullmatch(rf"\s*(\w[\w /-]*?)\s*((?:\[{number}(?:,{number})*\]\s*)*)", key)
    if found is None:
        raise _wrong(key, ": a claim is a step's name or an indexed part of it, such as scores[0]")
    return found[1], tuple(int(i) for i in re.findall(r"[0-9]+", found[2]))


def _step(key: str, name: str, trace: Trace) -> str:
    """The path of the step that is meant, by its path or by a name that only one step has."""
    found = trace.all(name)
    known = [step.path for step in trace]
    if name not in known and len(found) != 1:
        if found:
            raise _wrong(key, f": {len(found)} steps are called {shown(name)}; say which, such as "
                         f"{shown(found[0].path)}")  # fmt: skip
        has = ", ".join(known[:MOST]) + (f" … ({len(known)} steps)" if known[MOST:] else "")
        raise _wrong(
            key,
            f": no step is called {shown(name)}; this mechanism has {has}{nearest(name, known)}",
        )
    return name if name in known else found[0].path


def _check_overlap(key: str, index: Index, before: list[tuple[Index, str]]) -> None:
    """A number may be claimed once: of two claims the later would silently win."""
    for other, named in before:
        shorter = min(len(index), len(other))
        if index[:shorter] == other[:shorter]:
            raise _wrong(key, f" claims numbers that claims.{named} claims too: drop one of them")
    before.append((index, key))


def _numbers(key: str, content: Any, shape: Index, tolerance: float | None) -> tuple[Array, Array]:
    """The claimed numbers and how far each may be off."""
    got = _shape(content)
    if got != shape:
        hint = ""
        if len(shape) == 2 and shape[1] == 1:
            hint = "; a column of single numbers is written [[0.8], [1.0], …]"
        described = shown(content) if isinstance(content, str | bool | dict) else _called(got)
        raise _wrong(key, f" must be {_called(shape)}, got {described}{hint}")
    leaves = list(_leaves(content))
    value = [_number(key, leaf) for leaf in leaves]
    off = [_allowed(leaf) if tolerance is None else tolerance for leaf in leaves]
    return np.array(value).reshape(shape), np.array(off).reshape(shape)


def _number(key: str, leaf: Any) -> float:
    return np.nan if leaf == BLANK else finite(key, leaf, f"claims.{key}", claimed=True)


def _allowed(leaf: Any) -> float:
    return 0.0 if leaf == BLANK else allowance(leaf)


def _shape(content: Any) -> Index | None:
    """The shape of nested lists; None if rows of different lengths stand side by side."""
    if not isinstance(content, list):
        return ()
    inner = {_shape(part) for part in content} or {()}
    first = inner.pop()
    return None if inner or first is None else (len(content), *first)


def _leaves(content: Any) -> Iterator[Any]:
    if isinstance(content, list):
        for part in content:
            yield from _leaves(part)
    else:
        yield content


def _called(shape: Index | None) -> str:
    if shape is None:
        return "rows of different lengths"
    if not shape:
        return "one number"
    return f"a list of {number_of(shape[0], 'number')}" if len(shape) == 1 else times(shape)
