"""Check: the numbers that somebody claims for a worked example, against the computation.

A claimed number is right if the true one rounds to it: 0.48 means within 0.005, 0.5987 within
0.00005, a whole number means exactly that. ``tolerance`` in the file replaces that rule.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

import numpy as np

from regard.errors import ExampleError, nearest
from regard.trace import Array, Trace
from regard.worked.example import Example, compute
from regard.worked.remarks import remarks_on

EXACT = 1e-9
"""What float64 arithmetic may be off by."""


@dataclass(frozen=True)
class Wrong:
    """One wrong number: where it stands, what was claimed and what it should be."""

    step: str
    index: tuple[int, ...]
    claimed: float
    correct: float
    carried: bool
    """Whether it follows from claims of earlier steps: wrong input, right arithmetic."""

    def to_dict(self) -> dict[str, Any]:
        return {
            "step": self.step,
            "index": list(self.index),
            "claimed": self.claimed,
            "correct": self.correct,
        }


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


@dataclass
class Report:
    """What came of a check: counts, the wrong numbers in the order of computation, remarks."""

    example: Example
    trace: Trace
    claims: dict[str, Claim]
    right: dict[str, int] = field(default_factory=dict)
    wrong: list[Wrong] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    def to_dict(self) -> dict[str, Any]:
        return {
            "right": sum(self.right.values()),
            "wrong": [wrong.to_dict() for wrong in self.wrong],
            "remarks": self.remarks,
        }


def check(example: Example) -> Report:
    """Compute the example and compare every claimed number."""
    trace = compute(example)
    claims = {c.step: c for c in _claims(example, trace)}
    if not claims:
        raise ExampleError(
            'nothing is claimed: add a [claims] table with a line for a step, such as "scores[0]" '
            "= [0.48, 0.80], or use 'regard explain --example' to see the numbers"
        )
    report = Report(example, trace, claims)
    for step in trace:
        if step.name in claims:
            _compare(report, claims[step.name], step.value)
    report.remarks = remarks_on(example, {n: (c.value, c.tolerance) for n, c in claims.items()})
    return report


def _compare(report: Report, claim: Claim, correct: Array) -> None:
    off = claim.made & ~(np.abs(claim.value - correct) <= claim.tolerance)
    follows = _from_claims(report, claim.step)
    report.right[claim.step] = int((claim.made & ~off).sum())
    for index in map(tuple, np.argwhere(off)):
        carried = follows is not None and bool(
            abs(claim.value[index] - follows[index]) <= claim.tolerance[index]
        )
        place = tuple(int(i) for i in index)
        claimed, true = float(claim.value[index]), float(correct[index])
        report.wrong.append(Wrong(claim.step, place, claimed, true, carried))


def _from_claims(report: Report, step: str) -> Array | None:
    """The step recomputed from what is claimed for the steps before it, where something is."""
    claims, trace = report.claims, report.trace

    def given(name: str) -> Array:
        correct = trace.value(name).astype(np.float64)
        return (
            np.where(claims[name].made, claims[name].value, correct) if name in claims else correct
        )

    if step == "scores":
        return given("queries") @ np.swapaxes(given("keys"), -1, -2)
    if step == "scaled":
        d_k = report.example.d_k or report.example.width_of_keys
        scaled: Array = given("scores") / np.sqrt(d_k)
        return scaled
    if step == "weights":
        scores = given("scaled" if "scaled" in trace else "scores")
        if "mask" in trace:
            scores = np.where(trace.value("mask"), scores, -np.inf)
        with np.errstate(invalid="ignore"):
            raised = np.exp(scores - scores.max(-1, keepdims=True))
            weights: Array = raised / raised.sum(-1, keepdims=True)
        return weights
    if step == "context":
        return given("weights") @ given("values")
    return None


def _claims(example: Example, trace: Trace) -> list[Claim]:
    """The claims of the file, gathered by step; each is a whole array or an indexed part."""
    gathered: dict[str, Claim] = {}
    known = [step.name for step in trace]
    for key, content in example.claims.items():
        name, index = _parse(key)
        if name not in known:
            raise ExampleError(
                f"claims.{key}: no step is called {name!r}{nearest(name, known)}; "
                f"this mechanism has {', '.join(known)}"
            )
        shape = trace.value(name).shape
        if name not in gathered:
            gathered[name] = Claim(name, np.full(shape, np.nan), np.zeros(shape))
        if len(index) > len(shape) or any(i >= n for i, n in zip(index, shape, strict=False)):
            raise ExampleError(
                f"claims.{key}: {name} has the shape {_times(shape)}, counted from 0"
            )
        value, tolerance = _numbers(key, content, shape[len(index) :], example.tolerance)
        gathered[name].value[index] = value
        gathered[name].tolerance[index] = tolerance
    return list(gathered.values())


def _parse(key: str) -> tuple[str, tuple[int, ...]]:
    """``scores[0][2]`` or ``scores[0, 2]`` → ("scores", (0, 2))."""
    found = re.fullmatch(r"\s*(\w+)\s*((?:\[\s*\d+(?:\s*,\s*\d+)*\s*\]\s*)*)", key)
    if found is None:
        raise ExampleError(
            f"claims.{key}: a claim is a step's name or an indexed part of it, such as scores[0]"
        )
    return found[1], tuple(int(i) for i in re.findall(r"\d+", found[2]))


def _numbers(
    key: str, content: Any, shape: tuple[int, ...], tolerance: float | None
) -> tuple[Array, Array]:
    """The claimed numbers and how far each may be off."""

    def fail(got: str) -> ExampleError:
        hint = ""
        if len(shape) == 2 and shape[1] == 1:
            hint = "; a column of single numbers is written [[0.8], [1.0], …]"
        return ExampleError(f"claims.{key} must be {_times(shape)}, got {got}{hint}")

    def walk(part: Any, rest: tuple[int, ...]) -> Any:
        if not rest:
            if isinstance(part, bool) or not isinstance(part, int | Decimal):
                raise fail("a list" if isinstance(part, list) else repr(part))
            if not np.isfinite(float(part)):
                raise ExampleError(f"claims.{key} must be finite numbers, got {part}")
            return (float(part), allowance(part) if tolerance is None else tolerance)
        if not isinstance(part, list):
            raise fail("a single number")
        if len(part) != rest[0]:
            raise fail(f"{len(part)} numbers where {rest[0]} are expected")
        return [walk(p, rest[1:]) for p in part]

    pairs = np.array(walk(content, shape), dtype=np.float64)
    return pairs[..., 0], pairs[..., 1]


def allowance(number: int | Decimal) -> float:
    """How far the true number may be from this one and still round to it."""
    if isinstance(number, int):
        return EXACT
    exponent = number.as_tuple().exponent
    return 0.5 * 10.0**exponent + EXACT if isinstance(exponent, int) else 0.0


def _times(shape: tuple[int, ...]) -> str:
    return " x ".join(map(str, shape)) if shape else "one number"
