"""Check: the numbers that somebody claims for a worked example, against the computation."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, overload

import numpy as np

from regard.errors import ExampleError, RegardError
from regard.text import number_of
from regard.trace import Array, Trace
from regard.worked.claims import BLANK, Claim, blanks, claims_of
from regard.worked.code.faults import CodeReport
from regard.worked.code.judge import SECONDS, judge
from regard.worked.consequence import Consequences
from regard.worked.diagnosis import diagnose, rounded_too_far
from regard.worked.dialects import DIALECTS
from regard.worked.example import Example
from regard.worked.formats import read_example
from regard.worked.remarks import remarks_on
from regard.worked.runs import RunResult, check_runs, claimed
from regard.worked.slips import slips
from regard.worked.source import ExampleFile, plain
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
    slip: str = ""
    """The mistake that gives this number, as the end of "… is what you get if"."""

    def to_dict(self) -> dict[str, Any]:
        content = {
            "step": self.step,
            "index": list(self.index),
            "claimed": self.claimed,
            "correct": self.correct,
        }
        return content | {"slip": self.slip} if self.slip else content


@dataclass
class Report:
    """What came of a check: counts, the wrong numbers in the order of computation, remarks."""

    example: Example
    trace: Trace
    claims: dict[str, Claim]
    counts: dict[str, int] = field(default_factory=dict)
    """How many numbers of each step are right."""
    wrong: list[Wrong] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def right(self) -> int:
        """How many numbers are right."""
        return sum(self.counts.values())

    @property
    def ok(self) -> bool:
        """Whether no number is wrong."""
        return not self.wrong

    def to_dict(self) -> dict[str, Any]:
        return {
            "right": self.right,
            "wrong": [wrong.to_dict() for wrong in self.wrong],
            "remarks": self.remarks,
        }


@dataclass
class RunReport:
    """What came of claims about runs, and of the numbers claimed beside them, if there are any."""

    results: list[RunResult]
    numbers: Report | None = None

    @property
    def right(self) -> int:
        """How many claims are right."""
        own = sum(result.right for result in self.results)
        return own + (self.numbers.right if self.numbers else 0)

    @property
    def wrong(self) -> list[Wrong | RunResult]:
        """The claims that are wrong."""
        runs = [result for result in self.results if not result.right]
        return [*(self.numbers.wrong if self.numbers else []), *runs]

    @property
    def remarks(self) -> list[str]:
        return self.numbers.remarks if self.numbers else []

    @property
    def ok(self) -> bool:
        """Whether no claim is wrong."""
        return not self.wrong

    def to_dict(self) -> dict[str, Any]:
        wrong = [one.to_dict() for one in self.wrong]
        return {"right": self.right, "wrong": wrong, "remarks": self.remarks}


@overload
def check(example: Example | Mapping[str, Any] | str | os.PathLike[str]) -> Report: ...


@overload
def check(
    example: Callable[..., Any],
    *,
    mechanism: str,
    causal: bool = False,
    axes: int | None = None,
    seconds: float = SECONDS,
) -> CodeReport: ...


def check(
    example: Example | Mapping[str, Any] | str | os.PathLike[str] | Callable[..., Any],
    *,
    mechanism: str | None = None,
    **how: Any,
) -> Report | CodeReport:
    """Compute a worked example and compare every claimed number; or try somebody's own code.

    ``example`` is a dictionary with the keys of a file (numbers, lists or arrays), a file, or the
    name of an example that comes with regard.

    >>> result = regard.check({"scores": [[112, 96]], "d_k": 64, "claims": {"weights": mine}})
    >>> assert result.ok, result.wrong

    Or it is a function ``f(query, key, value, mask=None)`` or a module of a ``mechanism``, which
    is called with generated cases: ``causal`` if it makes the causal mask itself, ``axes`` if it
    is meant for so many alone, ``seconds`` for one call.

    >>> result = regard.check(attention, mechanism="scaled")
    """
    if callable(example):
        if mechanism is None:
            raise RegardError(f"say what it is to compute: mechanism = {', '.join(DIALECTS)}")
        return judge(example, mechanism, **how)
    if mechanism is not None or how:
        raise RegardError("mechanism goes with a function: a worked example names its own")
    if not isinstance(example, Example):
        if isinstance(example, Mapping):
            source = ExampleFile("", "", plain(dict(example)))
        else:
            source = read_example(example)
        found, runs = claimed(source)
        if runs or found is None:
            raise RegardError("claims about runs are checked by the command: regard check FILE")
        example = found
    return check_example(example)


def check_file(source: ExampleFile) -> Report | RunReport:
    """Check what a file claims, of numbers and of runs; refused, if need be, before either."""
    example, runs = claimed(source)
    numbers = None if example is None else check_example(example)
    if not runs and numbers is not None:
        return numbers
    try:
        return RunReport(check_runs(runs), numbers)
    except ExampleError as error:
        raise source.located(error) from error


def check_example(example: Example) -> Report:
    """Compute a worked example and compare every claimed number."""
    trace = compute(example)
    try:
        claims = claims_of(example, trace)
    except ExampleError as error:
        raise example.located(error) from error
    report = Report(example, trace, claims)
    # Claims may be so large that what follows from them is infinite: wrong, but no accident.
    with np.errstate(all="ignore"):
        follows = [Consequences(example, trace, claims, rounded=r) for r in (True, False)]
        for step in trace:
            if step.path in claims:
                _compare(report, claims[step.path], step.value, follows)
        report.remarks = remarks_on(example, trace, claims)
    blank = blanks(example)
    if blank:
        report.remarks.append(f"{number_of(blank, 'number')} left blank ({BLANK}).")
    return report


def _compare(
    report: Report, claim: Claim, correct: Array, consequences: list[Consequences]
) -> None:
    off = claim.made & ~(np.abs(claim.value - correct) <= claim.tolerance)
    report.counts[claim.step] = int((claim.made & ~off).sum())
    wrong = [tuple(map(int, index)) for index in np.argwhere(off)]
    if not wrong:
        return
    carried = set[tuple[int, ...]]()
    for known in consequences:
        follows = known.of(claim.step)
        if follows is not None:
            near = np.abs(claim.value - follows) <= claim.tolerance
            carried |= {index for index in wrong if near[index]}
    own = [index for index in wrong if index not in carried]
    said = _slips(report, claim, correct, own, consequences[0])
    if carried and not report.wrong:  # nothing before it is wrong, only rounded
        said |= dict.fromkeys(carried, "it is made of the rounded numbers claimed before")
    for index in wrong:
        claimed, true = float(claim.value[index]), float(correct[index])
        report.wrong.append(
            Wrong(claim.step, index, claimed, true, index in carried, said.get(index, ""))
        )


def _slips(
    report: Report,
    claim: Claim,
    correct: Array,
    own: list[tuple[int, ...]],
    consequences: Consequences,
) -> dict[tuple[int, ...], str]:
    """What made the numbers that are wrong by themselves, where that can be told."""
    if not own or claim.step in report.example.given:
        return {}
    steps = [step for step in report.trace if step.derived is None]
    right = {step.path: step.value.astype(np.float64) for step in steps}
    claimed = {n: consequences.given(n) if n != claim.step else right[n] for n in right}
    tried = [
        slip for known in (right, claimed) for slip in slips(report.example, claim.step, known)
    ]
    found = {index: slip.says for index, slip in diagnose(claim, correct, own, tried).items()}
    for index in own:
        if index not in found and rounded_too_far(claim, correct, index):
            found[index] = f"{float(correct[index]):.4g} is rounded too far"
    return found
