"""What each benchmark is to reach, and whether it did: ``make bench``.

    python benchmarks/goals.py [NAME …]        # all benchmarks that have goals, or these

Runs them one after another, each in a process of its own, and ends with one table of every goal,
its figure and whether it is met. There is no allowance for noise: a benchmark repeats, in several
processes where it matters, and its best figure counts. What cannot run here says so. Exits with 1
if a goal is not met or a benchmark fails.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

FILE = "REGARD_GOALS"
"""The environment variable that names the file to which a benchmark adds its goals."""
BENCHMARKS = {
    "kernel": (["--variant", "avx2"], ["--variant", "avx512"]),
    "gradient": (["--variant", "avx2"], ["--variant", "avx512"]),
    **{name: ([],) for name in ("translate", "recurrent", "long", "start", "ablate", "look")},
    **{name: ([],) for name in ("attend", "record", "page", "live", "serve", "recall")},
}
"""By name, the arguments of each run."""


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
        figure = "–" if self.figure is None else f"{self.figure:.3g}{self.unit}"
        sign = "≤" if self.most else "≥"
        return self.what, f"{sign} {self.bound:g}{self.unit}", figure, self.verdict


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
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    names = parser.parse_args().names or list(BENCHMARKS)
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        kept = Path(folder) / "goals.jsonl"
        kept.touch()
        for name in names:
            for arguments in BENCHMARKS[name]:
                failed += run(name, arguments, kept)
        goals = [Goal(**json.loads(line)) for line in kept.read_text("utf-8").splitlines()]
    print(f"\n== goals\n\n{table(goals)}")
    print(*(f"\nFAILED: {command}" for command in failed), sep="")
    return int(bool(failed) or any(goal.met is False for goal in goals))


def run(name: str, arguments: list[str], kept: Path) -> list[str]:
    """Run a benchmark, which adds to ``kept``; its command if it failed, but for missed goals."""
    script = str(Path(__file__).with_name(f"{name}.py"))
    print(f"\n== benchmarks/{name}.py {' '.join(arguments)}", flush=True)
    before = kept.stat().st_size
    environment = {**os.environ, FILE: str(kept)}
    code = subprocess.run([sys.executable, script, *arguments], env=environment).returncode
    return [f"{name}.py {' '.join(arguments)}"] if code and kept.stat().st_size == before else []


if __name__ == "__main__":
    raise SystemExit(main())
