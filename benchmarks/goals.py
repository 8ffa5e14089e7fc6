"""What each benchmark is to reach, and whether it did: ``make bench``.

    python benchmarks/goals.py [NAME …] [--short]        # all benchmarks that have goals, or these

Runs them one after another, each in a process of its own that has a limit of time, and ends with
one table of every goal, its figure and whether it is met. How long they take together is told
before. There is no allowance for noise: a benchmark repeats, in several processes where it matters,
and its best figure counts. What cannot run here says so. With ``--kept FILE`` goals are added to a
file, and benchmarks that stand in it are not run again: a run can be made in parts. With
``--short`` each repeats less: a figure that is missed then may be met in the long run. Exits with 1
if a goal is not met or a benchmark fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

FILE = "REGARD_GOALS"
"""The environment variable that names the file to which a benchmark adds its goals."""


class Run(NamedTuple):
    """A benchmark with arguments, and the seconds it takes on two cores, long and short."""

    name: str
    seconds: tuple[int, int]
    arguments: str = ""
    short: str = ""
    environment: tuple[tuple[str, str], ...] = ()

    @property
    def command(self) -> str:
        """As a person would type it."""
        before = [f"{name}={value}" for name, value in self.environment]
        return " ".join((*before, f"benchmarks/{self.name}.py", *self.arguments.split()))

    def shortened(self) -> Run:
        arguments = f"{self.arguments} {self.short}".strip()
        return self._replace(arguments=arguments, seconds=self.seconds[1:] * 2)


FEW = "--processes 1 --rounds 12"
RUNS = (
    Run("kernel", (200, 50), "--variant avx2", FEW),
    Run("kernel", (200, 50), "--variant avx512", FEW),
    Run("gradient", (150, 30), "--variant avx2", FEW),
    Run("gradient", (150, 30), "--variant avx512", FEW),
    Run("translate", (260, 80), "--variant avx2", "--rounds 3 --no-training --no-huggingface"),
    Run("translate", (260, 80), "--variant avx512", "--rounds 3 --no-training --no-huggingface"),
    Run("scans", (190, 100), "", "--rounds 2"),
    Run("recurrent", (460, 60), "", "--rounds 5 --step"),
    Run("recurrent", (40, 30), "--step", "--rounds 5", (("REGARD_KERNEL", "off"),)),
    Run("start", (70, 70)),
    Run("attend", (60, 20), "", "--rounds 20"),
    Run("record", (30, 10), "", "--rounds 200"),
    Run("long", (700, 600)),
    Run("ablate", (300, 60), "", "--tokens 64 --rounds 1"),
    Run("look", (150, 100), "", "--rounds 1"),
    Run("page", (60, 60)),
    Run("live", (120, 40), "", "--sentences 12 --lines 500"),
    Run("serve", (90, 90)),
)
PATIENCE = 5
"""A benchmark that takes so many times as long as it should is ended."""


@dataclass(frozen=True)
class Goal:
    """A ``figure`` that should be at least ``bound``, or at most; None was not measured."""

    what: str
    figure: float | None
    bound: float
    unit: str = ""
    most: bool = False

    @property
    def met(self) -> bool | None:
        if self.figure is None:
            return None
        return self.figure <= self.bound if self.most else self.figure >= self.bound

    @property
    def verdict(self) -> str:
        return {True: "met", False: "NOT MET", None: "not measured here"}[self.met]

    def cells(self) -> tuple[str, str, str, str]:
        """Of a line of the table; a missed figure is never rounded onto its goal."""
        sign = "≤" if self.most else "≥"
        bound = f"{sign} {self.bound:g}{self.unit}"
        return self.what, bound, "–" if self.figure is None else self._rounded(), self.verdict

    def _rounded(self) -> str:
        """The figure with as many digits as show on which side of its goal it lies; 3 at least."""
        texts = (f"{self.figure:.{digits}g}" for digits in range(3, 17))
        fair = (text for text in texts if replace(self, figure=float(text)).met == self.met)
        return f"{next(fair, self.figure)}{self.unit}"


def tell(goals: Iterable[Goal]) -> int:
    """Print a benchmark's goals and keep them for the table of all; its exit code."""
    goals = list(goals)
    print(f"\n{table(goals)}")
    if FILE in os.environ:
        with open(os.environ[FILE], "a", encoding="utf-8") as file:
            file.writelines(json.dumps(asdict(goal)) + "\n" for goal in goals)
    return int(any(goal.met is False for goal in goals))


def table(goals: Iterable[Goal]) -> str:
    """One line a goal, in Markdown."""
    rows = [("what", "goal", "figure", ""), *(goal.cells() for goal in goals)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    rule = tuple("-" * width for width in widths)
    lines = (rows[0], rule, *rows[1:])
    return "\n".join(
        f"| {' | '.join(cell.ljust(w) for cell, w in zip(line, widths, strict=True))} |"
        for line in lines
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    known = sorted({one.name for one in RUNS})
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(known))
    parser.add_argument("--short", action="store_true", help="repeat less")
    parser.add_argument("--kept", type=Path, help="a file of goals, for a run in parts")
    options = parser.parse_args()
    if strange := set(options.names) - set(known):
        parser.error(f"known are {', '.join(known)}, got {', '.join(sorted(strange))}")
    with tempfile.TemporaryDirectory() as folder:
        kept = options.kept or Path(folder) / "goals.jsonl"
        kept.touch()
        done = {line["run"] for line in read(kept)}
        every = [one.shortened() if options.short else one for one in RUNS]
        runs = [one for one in every if not options.names or one.name in options.names]
        runs = [one for one in runs if one.command not in done]
        minutes = sum(one.seconds[0] for one in runs) / 60
        print(f"{len(runs)} benchmarks, about {minutes:.0f} minutes on a quiet machine", flush=True)
        failed = [why for one in runs if (why := run(one, kept))]
        goals = [Goal(**line["goal"]) for line in read(kept) if line["goal"]]
    print(f"\n== goals\n\n{table(goals)}")
    print(*(f"\nFAILED: {why}" for why in failed), sep="")
    return int(bool(failed) or any(goal.met is False for goal in goals))


def read(kept: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in kept.read_text("utf-8").splitlines()]


def run(one: Run, kept: Path) -> str:
    """Run a benchmark and add its goals to ``kept``; why it failed, but for missed goals."""
    script = str(Path(__file__).with_name(f"{one.name}.py"))
    print(f"\n== {one.command}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        told = Path(folder) / "goals.jsonl"
        told.touch()
        environment = {**os.environ, **dict(one.environment), FILE: str(told)}
        command = [sys.executable, script, *one.arguments.split()]
        began, limit = time.monotonic(), PATIENCE * one.seconds[0]
        try:
            code = subprocess.run(command, env=environment, timeout=limit).returncode
        except subprocess.TimeoutExpired:
            return f"{one.command}: not done after {limit} s"
        print(f"-- {time.monotonic() - began:.0f} s", flush=True)
        goals = read(told)
    if code and not goals:
        return f"{one.command}: exit code {code}"
    with kept.open("a", encoding="utf-8") as file:
        lines: list[Any] = [*goals] if goals else [None]  # one without goals was run all the same
        file.writelines(json.dumps({"run": one.command, "goal": goal}) + "\n" for goal in lines)
    return ""


if __name__ == "__main__":
    raise SystemExit(main())
