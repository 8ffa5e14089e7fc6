"""``make demo`` runs what the README shows."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest

from tests.cli.run import ROOT

BLOCKS = re.findall(
    r"```console\n\$ regard (.*)\n((?:.*\n)*?)```", (ROOT / "README.md").read_text()
)


def test_there_are_four_things_to_try() -> None:
    assert len(BLOCKS) == 4


@pytest.mark.skipif(shutil.which("make") is None, reason="make is not installed")
def test_make_demo_runs_what_the_readme_shows() -> None:
    done = subprocess.run(
        ["make", "--dry-run", "--always-make", "demo"],
        capture_output=True,
        text=True,
        check=True,
        cwd=ROOT,
        timeout=60,
    )
    commands = re.findall(r"(?m)^\S*/regard (.*?)(?: \|\| .*)?$", done.stdout)
    ran = [shlex.split(command) for command in commands]
    wanted = [shlex.split(command) for command, _ in BLOCKS]
    assert [command for command in ran if command in wanted] == wanted
