"""Check: the numbers that somebody claims for a worked example, against the computation."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from regard.errors import ExampleError
from regard.trace import Array, Trace
from regard.worked.claims import Claim, claims_of
from regard.worked.consequence import Consequences
from regard.worked.example import Example
from regard.worked.remarks import remarks_on
from regard.worked.stages import compute


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
    try:
        claims = claims_of(example, trace)
    except ExampleError as error:
        raise example.located(error) from error
    report = Report(example, trace, claims)
    # Claims may be so large that what follows from them is infinite: wrong, but no accident.
    with np.errstate(all="ignore"):
        for step in trace:
            if step.name in claims:
                _compare(report, claims[step.name], step.value)
        report.remarks = remarks_on(example, trace, claims)
    return report


def _compare(report: Report, claim: Claim, correct: Array) -> None:
    off = claim.made & ~(np.abs(claim.value - correct) <= claim.tolerance)
    follows = Consequences(report.example, report.trace, report.claims).of(claim.step)
    report.right[claim.step] = int((claim.made & ~off).sum())
    for index in map(tuple, np.argwhere(off)):
        carried = follows is not None and bool(
            abs(claim.value[index] - follows[index]) <= claim.tolerance[index]
        )
        place = tuple(int(i) for i in index)
        claimed, true = float(claim.value[index]), float(correct[index])
        report.wrong.append(Wrong(claim.step, place, claimed, true, carried))
