"""Run the command as a person would: in this process (fast), or in one of its own."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

from regard.cli import main

ROOT = Path(__file__).parents[2]


class Done(NamedTuple):
    """What a command left: its exit code and what it printed."""

    returncode: int
    stdout: str
    stderr: str


def regard(*arguments: str | Path, folder: Path = ROOT) -> Done:
    """The command in this process, in a folder (the project's root), its output into pipes."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), contextlib.chdir(folder):
        try:
            main([str(a) for a in arguments])
            code = 0
        except SystemExit as stop:
            code = int(stop.code or 0)
    return Done(code, out.getvalue(), err.getvalue())


def regard_process(*arguments: str | Path) -> Done:
    """The command in a process of its own."""
    command = [sys.executable, "-m", "regard", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    return Done(done.returncode, done.stdout, done.stderr)
