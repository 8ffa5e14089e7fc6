"""``regard --help`` in a process of its own: it answers at once and loads nothing heavy."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import pytest

from regard.cli import COMMANDS

COMMAND = Path(sys.executable).with_name("regard")
HEAVY = {"torch", "numpy", "transformers", "matplotlib", "gensim"}


def timed(*command: str) -> float:
    start = time.perf_counter()
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stdout
    return time.perf_counter() - start


@pytest.mark.skipif(not COMMAND.exists(), reason="regard is not installed as a command")
def test_help_answers_at_once() -> None:
    """Best of five, against a bare Python on the same, perhaps busy, machine.

    It takes some 0.1 s more than Python itself; with torch it would be more than 1 s.
    """
    runs = [
        (timed(sys.executable, "-c", "print(1)"), timed(str(COMMAND), "--help")) for _ in range(5)
    ]
    python, regard = (min(times) for times in zip(*runs, strict=True))
    assert regard - python < 0.5


@pytest.mark.parametrize("command", [[], *([name] for name in sorted(COMMANDS))])
def test_help_loads_nothing_heavy(command: list[str]) -> None:
    script = (
        "import sys\n"
        "from regard.cli import main\n"
        "try:\n"
        f"    main({[*command, '--help']!r})\n"
        "finally:\n"
        f"    print(sorted({HEAVY!r} & sys.modules.keys()))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0].startswith("Usage: regard")
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "command",
    [
        ["check", "/none"],
        ["check", "README.md"],
        ["cost", "--lengths", "5,3"],
        ["cost", "--json", "/none/a"],
        ["evaluate", "/none"],
        ["explain", "a", "--model", "none!"],
        ["heads", "minilm", "--corpus", "/none"],
        ["heads", "minilm", "a", "--state", "b"],
        ["look", "minilm", "a", "--html", "/none/a.html"],
        ["look", "none!", "a"],
        ["read", "--model", "none", "a"],
        ["serve", "none!"],
        ["translate", "--file", "/none"],
        ["translate", "--model", "none", "a"],
        ["words", "show", "/none"],
    ],
    ids=" ".join,
)
def test_what_is_refused_is_refused_before_torch_is_imported(command: list[str]) -> None:
    script = (
        "import sys\n"
        "from regard.cli import main\n"
        "try:\n"
        f"    main({command!r})\n"
        "finally:\n"
        "    print('torch' in sys.modules)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=Path(__file__).parents[1],
    )
    assert (done.returncode, done.stdout) == (2, "False\n")
    assert done.stderr.startswith("regard: error: ")
    assert done.stderr.count("\n") == 1
