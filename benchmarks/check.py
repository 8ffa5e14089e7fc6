"""How surely `regard check` finds wrong numbers and their causes, in every mechanism.

python benchmarks/check.py [--every N] [--seed S]

For each mechanism and each of its choices a file with all numbers of all steps: they are right.
Then each number in turn is made wrong, alone, and with all that follows from it recomputed: that
number is named with the right one, and no other is blamed by itself. Then the usual slips, each in
200 cases of seeds that nothing was tuned on, and 2,000 numbers that are wrong by chance.
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))  # the generated cases are those of the tests

from regard.worked.check import check
from regard.worked.claims import Claim, claims_of
from regard.worked.consequence import Consequences
from regard.worked.example import Example
from regard.worked.source import ExampleFile
from regard.worked.stages import compute, stages
from tests.worked import slip_cases
from tests.worked.cases import (
    Variant,
    as_file,
    called,
    generated,
    numbers_of,
    places,
    variants,
    with_one_wrong,
    written,
)


@dataclass
class Found:
    """What came of the cases of one mechanism."""

    numbers: int = 0
    cases: int = 0
    missed: list[str] = field(default_factory=list)


def read(example: Example, claims: dict[str, object]) -> Example:
    """The example as read from the text of a file."""
    text = as_file(example, claims)
    return Example.from_file(ExampleFile("case.toml", text, ExampleFile.parse("case.toml", text)))


def following(
    example: Example, step: str, index: tuple[int, ...], wrong: float
) -> dict[str, object]:
    """All numbers as somebody writes them who has one wrong and goes on rightly."""
    trace = compute(example)
    value = np.full(trace.value(step).shape, np.nan)
    value[index] = wrong
    claim = Claim(step, value, np.zeros(value.shape))
    follows = Consequences(example, trace, {step: claim})
    return {path: written(follows.given(path)) for path in numbers_of(example)}


def cases_of(variant: Variant, seed: int, every: int) -> Found:
    """Each ``every``-th number of the mechanism's file made wrong."""
    found, rng = Found(), np.random.default_rng(seed)
    example = generated(variant, seed)
    claims = numbers_of(example)
    report = check(read(example, claims))
    found.numbers = report.right
    if not report.ok:
        found.missed.append(f"true numbers: {report.wrong[0]}")
    rows = {s.name: s.gathers for s in stages(example) if s.gathers}
    right = claims_of(replace(example, claims=claims), report.trace)
    for step, index in places(claims)[::every]:
        by = float(rng.choice([-1, 1]) * rng.uniform(0.02, 1))
        wrong = round(float(right[step].value[index]) + by, 4)
        alone = with_one_wrong(claims, step, index, by)
        for how, made in (("alone", alone), ("followed", following(example, step, index, wrong))):
            found.cases += 1
            got = [w for w in check(read(example, made)).wrong if not w.carried]
            true = float(report.trace.value(step)[index])
            place = (step, index)
            row = rows[step][index[0]] if step in rows else ""
            if how == "followed" and row in claims and index[1] < len(claims[row]):
                place = (row, index[1:])  # the word's own step comes first
            if [(w.step, w.index) for w in got] != [place] or abs(got[0].correct - true) > 1e-12:
                said = [(w.step, w.index) for w in got][:3]
                found.missed.append(f"{how} {step}{list(index)}: blamed {said}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--every", type=int, default=1, help="every so manyth number (1: all)")
    parser.add_argument("--seed", type=int, default=20_000)
    parser.add_argument("--slips", type=int, default=200, help="cases of each slip")
    options = parser.parse_args()
    good, total, started = True, 0, time.perf_counter()
    print(f"{'mechanism':<34}{'numbers':>8}{'cases':>8}{'missed':>8}")
    for variant in variants():
        found = cases_of(variant, options.seed, options.every)
        total += found.cases
        print(f"{called(variant):<34}{found.numbers:>8}{found.cases:>8}{len(found.missed):>8}")
        for line in found.missed[:5]:
            print(f"    {line}")
        good &= not found.missed
    print(f"{total} cases in {time.perf_counter() - started:.0f} s\n")
    for name in slip_cases.CASES:
        share = slip_cases.recognised(name, options.slips, options.seed)
        print(f"{name:<34}{share:>8.1%} of {options.slips} recognised")
        good &= share >= 0.95
    for what, named in (
        ("attention", slip_cases.wrongly_named(10 * options.slips, options.seed)),
        ("every mechanism", slip_cases.wrongly_named_anywhere(10 * options.slips, options.seed)),
    ):
        print(f"wrong by chance, {what}: {named:.2%} put down to a slip")
        good &= named <= 0.01
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
