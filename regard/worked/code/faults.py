"""Faults: what is wrong with a function, told from all its wrong answers together."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from regard.worked.code.mistakes import Mistake, mistakes
from regard.worked.code.trial import Trial, off

WITHOUT = {
    "mask": ("without a mask", "with one"),
    "empty": ("where every query may attend to something", "where one may not"),
    "axes": ("with two axes", "with a batch axis in front"),
    "large": ("with small scores", "with large ones"),
    "uneven": ("with as many keys as queries", "with more or fewer"),
    "float32": ("in float64", "in float32"),
}
"""How a circumstance is said: without it, with it."""
SMALLEST = 2
"""In so many cases all mistakes are tried."""
SAYS = {
    "empty": "NaN in rows that may attend to nothing: their softmax is 0 / 0; give zeros",
    "overflow": "softmax overflows: take each row's largest score away before the exponential",
    "changed": "it changes its own arguments: ",
    "random": "it answers differently each time (is dropout switched on?)",
    "shape": "",
    "gradients": "",
    "error": "it raises ",
}
"""What is said of the faults that are no mistake in the numbers."""


@dataclass(frozen=True)
class Fault:
    """Something that the function gets wrong."""

    name: str
    says: str
    cases: tuple[str, ...]
    """The cases that show it, the smallest first."""
    example: dict[str, Any] | None = field(default=None, repr=False)
    """The smallest as a worked example, with what the function gave as the claims."""

    def to_dict(self) -> dict[str, Any]:
        content = {"fault": self.name, "says": self.says, "cases": list(self.cases)}
        return content if self.example is None else content | {"example": self.example}


@dataclass
class CodeReport:
    """What came of checking code: the cases that are right, the faults, the remarks."""

    name: str
    mechanism: str
    library: str
    passed: list[str] = field(default_factory=list)
    """The cases that it gets right."""
    wrong: list[Fault] = field(default_factory=list)
    remarks: list[str] = field(default_factory=list)

    @property
    def right(self) -> int:
        """How many cases are right."""
        return len(self.passed)

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.wrong

    def to_dict(self) -> dict[str, Any]:
        return {
            "right": self.right,
            "wrong": [fault.to_dict() for fault in self.wrong],
            "remarks": self.remarks,
        }


def faults(trials: list[Trial]) -> Iterator[Fault]:
    """Each thing that is wrong, once."""
    random = any(t.fault == "random" for t in trials)
    wrong = [t for t in trials if t.fault in ("numbers", "weights") and not random]
    with np.errstate(all="ignore"):  # mistakes may be infinite
        found = list(_diagnosed(trials, wrong))
    yield from found
    for kind, says in SAYS.items():
        if kind == "shape" and found:
            continue  # the same mistake, where widths differ
        groups: dict[str, list[Trial]] = {}
        for trial in trials:
            if trial.fault == kind:  # the same but for its sizes is the same
                groups.setdefault(re.sub("[0-9]+", "", trial.detail), []).append(trial)
        for group in groups.values():
            named = trials if kind in ("error", "shape") else []
            yield _fault(kind, f"{says}{group[0].detail}", group, named)


def _diagnosed(trials: list[Trial], wrong: list[Trial]) -> Iterator[Fault]:
    """The mistakes that give the wrong numbers, the one that explains most of them first."""
    left = list(wrong)
    while left:
        found = _best(left, pairs=False) or _best(left, pairs=True)
        if found is None:
            yield _fault("unknown", f"it gives wrong numbers: {_first(left[0])}", left, trials)
            return
        mistake, group = found
        of = "weights" if all(t.fault == "weights" for t in group) else "numbers"
        yield _fault(mistake.name, f"its {of} are what you get if {mistake.says}", group, trials)
        left = [t for t in left if all(t is not other for other in group)]


def _best(trials: list[Trial], pairs: bool) -> tuple[Mistake, list[Trial]] | None:
    """The mistake that gives what was answered in most of the trials, and those trials.

    It must give one of the smallest; only such are tried in the others.
    """
    explained: dict[str, list[Trial]] = {}
    first: dict[str, Mistake] = {}
    for i, trial in enumerate(trials):
        only = explained.keys() if i >= SMALLEST else None
        if only is not None and not only:
            break
        for mistake in mistakes(trial.case, pairs, only):
            group = explained.get(mistake.identity, [])
            if all(trial is not other for other in group) and trial.agrees(mistake):
                explained[mistake.identity] = [*group, trial]
                first.setdefault(mistake.identity, mistake)
    if not explained:
        return None
    best = max(explained, key=lambda identity: len(explained[identity]))
    return first[best], explained[best]


def _fault(name: str, says: str, group: list[Trial], trials: list[Trial]) -> Fault:
    where = _where(group, trials)
    text = f"Right {where[0]}; {where[1]}, {says}." if where else f"{says[:1].upper()}{says[1:]}."
    if name == "error" and where == WITHOUT["axes"]:
        text += " (.T turns all axes: use swapaxes(-1, -2). Meant for two axes alone? --axes 2)"
    return Fault(name, text, tuple(t.name for t in group), group[0].example())


def _where(group: list[Trial], trials: list[Trial]) -> tuple[str, str] | None:
    """The circumstance that all of these have and no wrong one lacks."""
    for circumstance, said in WITHOUT.items():
        others = [t for t in trials if not t.has(circumstance)]
        if others and not any(t.fault for t in others) and all(t.has(circumstance) for t in group):
            return said
    return None


def _first(trial: Trial) -> str:
    """The first wrong number."""
    weights = trial.fault == "weights"
    step = "weights" if weights else trial.case.slices[0].last
    own = trial.answer.weights if weights else trial.answer.result
    assert own is not None
    right = trial.case.stacked(step)
    place = tuple(int(i) for i in np.argwhere(off(trial.case, own, right))[0])
    named = step + "".join(f"[{i}]" for i in place)
    return f"{named} is {own[place]:.6g} and should be {right[place]:.6g} ({trial.name})"
