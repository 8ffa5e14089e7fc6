"""The wait before the first line: each command beside ``import torch`` alone.

    python benchmarks/start.py [--rounds N]

Each is a process of its own with one short sentence, timed from its start to the first line that it
prints. They take turns, and the least time of each counts. Goal: the time of ``import torch`` plus
at most 0.3 s. ``look`` and ``explain`` need MiniLM: on a machine that has not fetched it they are
not measured. Bytecode is compiled first, as an installation does.
"""

from __future__ import annotations

import argparse
import compileall
import subprocess
import sys
import time
from pathlib import Path

from goals import Goal, tell

import regard
from regard.inside.pinned import PINNED

LATER = 0.3
"""Seconds after ``import torch`` alone: the goal."""
SENTENCE = "The animal didn't cross the street because it was too tired"
COMMANDS = {
    "translate": ["translate", "Das ist schade."],
    "translate --model transformer": ["translate", "--model", "transformer", "Das ist schade."],
    "read": ["read", "Tom said that he was tired."],
    "explain --example": ["explain", "--example", "tutorial-corrected"],
    "explain": ["explain", SENTENCE, "--word", "it"],
    "look minilm": ["look", "minilm", SENTENCE],
}
NEEDS_MINILM = ("explain", "look minilm")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="turns of each (default 5)")
    rounds = parser.parse_args().rounds
    compileall.compile_dir(Path(regard.__file__).parent, quiet=1)
    ways = {"import torch": ["-c", "import torch; print()"]}
    for name, words in COMMANDS.items():
        if name not in NEEDS_MINILM or PINNED["minilm"].complete:
            ways[name] = ["-m", "regard", *words]
    least = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds):
        for name, arguments in ways.items():
            least[name] = min(least[name], first_line(arguments))
    torch = least.pop("import torch")
    print(f"seconds to the first line, least of {rounds}")
    print(f"\n  {'command':<32} {'import torch':>12} {'command':>9} {'more':>6}")
    for name, seconds in least.items():
        print(f"  {name:<32} {torch:>12.2f} {seconds:>9.2f} {seconds - torch:>+6.2f}")
    return tell(
        Goal(
            f"first line of `{name}` after `import torch`",
            least[name] - torch if name in least else None,
            LATER,
            " s",
            most=True,
        )
        for name in COMMANDS
    )


def first_line(arguments: list[str]) -> float:
    """Seconds from the start of a Python with these arguments to the first line that it prints."""
    start = time.perf_counter()
    with subprocess.Popen([sys.executable, *arguments], stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        process.stdout.readline()
        seconds = time.perf_counter() - start
        process.stdout.read()
    if process.returncode:
        raise SystemExit(f"{' '.join(arguments)} ended with {process.returncode}")
    return seconds


if __name__ == "__main__":
    raise SystemExit(main())
