"""Judge: somebody's own function, called with generated cases and compared with regard's.

The answer is which cases are right, and for the others the mistake that gives the same numbers,
with the smallest case that shows it as a worked example.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from regard.errors import RegardError, nearest
from regard.worked.code.candidate import Candidate
from regard.worked.code.cases import PLANS, Plan, make
from regard.worked.code.faults import CodeReport, faults
from regard.worked.code.trial import Trial, off, try_answer
from regard.worked.dialects import DIALECTS
from regard.worked.parts import Parts

SECONDS = 10.0
"""How long one call may take."""
OWN = Plan("causal=True", ("mask",), mask="own")


def judge(
    function: Callable[..., Any],
    mechanism: str,
    *,
    causal: bool = False,
    axes: int | None = None,
    seconds: float = SECONDS,
) -> CodeReport:
    """Call the function with cases of the mechanism and say what is wrong with its answers.

    ``causal``: it makes the causal mask itself. ``axes``: how many axes it is meant for; else all
    numbers of axes are tried.
    """
    if mechanism not in DIALECTS:
        hint = nearest(mechanism, DIALECTS) or f"; known: {', '.join(DIALECTS)}"
        raise RegardError(f"no mechanism is called {mechanism!r}{hint}")
    court = Court(Candidate(function, mechanism, seconds), causal)
    trials = court.trials(axes)
    report = CodeReport(court.candidate.name, mechanism, court.candidate.library)
    report.passed = [trial.name for trial in trials if not trial.fault]
    report.wrong = list(faults(trials))
    report.remarks = list(dict.fromkeys(court.remarks))
    return report


class Court:
    """The cases of one candidate, tried one by one."""

    def __init__(self, candidate: Candidate, causal: bool) -> None:
        self.candidate = candidate
        self.causal = causal
        self.remarks: list[str] = []
        self.leads = {"queries", "keys", "values"} <= set(candidate.keys)
        """Whether batch and head axes may stand before its vectors."""
        dialect = DIALECTS[candidate.mechanism]
        options = {name: option.default for name, option in dialect.options.items()}
        axes = {key: dialect.axes_of(key, options) for key in candidate.keys}
        self.matrices = [key for key, own in axes.items() if Parts.maps(own)]
        """Those of its arguments that may be read either way round."""

    def trials(self, axes: int | None) -> list[Trial]:
        """All of them; a function that does not come back is tried no further."""
        base = self._begin() if axes is None else (1,) * (axes - 2)
        done: list[Trial] = []
        for plan in self._plans(base, axes):
            done.append(self.tried(plan))
            if "seconds" in done[-1].answer.error:
                return done
        self._try_twice(done)
        return list(self._without_axes(done, len(base)))

    def _begin(self) -> tuple[int, ...]:
        """How it wants to be called: the library, the fewest leading axes, a matrix's layout."""
        candidate, first = self.candidate, PLANS[0]
        libraries = [candidate.library] if candidate.library else ["torch", "numpy"]
        layouts = (False, True) if candidate.module or self.matrices else (False,)
        ways = [
            (lead, library, turned)
            for lead in ((), (1,), (1, 1))
            for library in libraries
            for turned in layouts
        ]
        kinds: dict[str, tuple[tuple[int, ...], str, bool]] = {}
        for way in ways:
            lead, candidate.library, candidate.transposed = way
            trial = self.tried(first._replace(lead=lead))
            if not trial.fault:
                return lead
            kinds.setdefault(trial.fault, way)
            if "seconds" in trial.answer.error:
                break
        best = next(kinds[kind] for kind in (*(k for k in kinds if k != "error"), "error"))
        _, candidate.library, candidate.transposed = best
        return best[0]

    def _plans(self, base: tuple[int, ...], axes: int | None) -> Iterator[Plan]:
        masks = self.candidate.takes("mask") and not self.causal
        if not masks and not self.causal and DIALECTS[self.candidate.mechanism].masked:
            self.remarks.append("It takes no mask, so none was tried.")
        dialect = DIALECTS[self.candidate.mechanism]
        attention = dialect.family == "attention"
        gradients = self.candidate.library == "torch" and attention
        uneven = not self.causal and (self.leads or dialect.memory != dialect.query)
        for plan in (*PLANS, OWN):
            own = plan is OWN
            if own and (self.causal or not self.candidate.takes("causal")):
                continue
            if plan.mask and not own and not masks:
                continue
            if "uneven" in plan.circumstances and not uneven:
                continue
            if "gradients" in plan.circumstances and not gradients:
                continue
            if plan.lead and (axes is not None or not self.leads):
                continue
            if len(plan.lead) < len(base):
                if plan.lead:
                    continue
                plan = plan._replace(lead=base)
            yield plan._replace(mask="own") if self.causal else plan

    def tried(self, plan: Plan) -> Trial:
        """One case. Where booleans are refused, a mask of 0 and 1 is tried too."""
        candidate = self.candidate
        seed = [p.name for p in (*PLANS, OWN)].index(plan.name)
        kind = "float32" if "float32" in plan.circumstances else "float64"
        weights = candidate.prepared(seed, kind)
        turned = candidate.transposed and candidate.module is None
        case = make(plan, candidate.mechanism, candidate.keys, weights, candidate.heads, seed)
        arrays = {k: v.T if turned and k in self.matrices else v for k, v in case.given.items()}
        given: dict[str, Any] = {**arrays, "heads": case.heads, "causal": plan.mask == "own"}
        if case.mask is not None and plan.mask != "own":
            given["mask"] = case.mask
        gradients = "gradients" in plan.circumstances
        answer = candidate.answer(given, kind, gradients)
        if answer.error and "mask" in given and candidate.boolean:
            candidate.boolean = False
            again = candidate.answer(given, kind, gradients)
            candidate.boolean = bool(again.error)
            if not again.error:
                answer = again
                self.remarks.append("It takes a mask of 0 and 1, and none of booleans.")
        trial, remarks = try_answer(case, answer, candidate.passed)
        self.remarks += remarks
        if answer.kind and answer.kind != kind:
            self.remarks.append(f"Of {kind} it makes {answer.kind}.")
        return trial

    def _try_twice(self, done: list[Trial]) -> None:
        """What it answers must not change from call to call."""
        first = done[0]
        again = self.tried(first.case.plan)
        if first.answer.result is None or again.answer.result is None:
            return
        if off(first.case, again.answer.result, first.answer.result).any():
            done[0] = first._replace(fault="random")

    def _without_axes(self, done: list[Trial], base: int) -> Iterator[Trial]:
        """A number of axes that it refuses aloud is no fault if it takes another."""
        depths = {len(t.case.plan.lead) for t in done}
        refused = {
            depth
            for depth in depths
            if all(t.fault == "error" for t in done if len(t.case.plan.lead) == depth)
        }
        taken = depths - refused
        forgiven = refused if any(taken) else set()
        if base:
            self.remarks.append(f"It takes {base + 2} axes, not two.")
        for depth in sorted(forgiven):
            self.remarks.append(f"It does not take {depth + 2} axes.")
        yield from (t for t in done if len(t.case.plan.lead) not in forgiven)
