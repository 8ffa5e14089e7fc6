"""What the README shows is what the commands print, and what ``make demo`` runs first."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess

import pytest

from tests.cli.run import ROOT, regard

BLOCKS = re.findall(
    r"```console\n\$ regard (.*)\n((?:.*\n)*?)```", (ROOT / "README.md").read_text()
)
DIFFERENCE = re.compile(r"(?<=difference )\d\.\de-\d\d|(?<=difference\n)\d\.\de-\d\d")
"""How far two ways to compute in float32 are apart differs from processor to processor."""


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 4


@pytest.mark.parametrize(("command", "shown"), BLOCKS)
def test_the_readme_shows_what_is_printed(
    command: str, shown: str, request: pytest.FixtureRequest
) -> None:
    if "Proof:" in shown:  # of a real model
        request.getfixturevalue("minilm")
    printed = regard(*shlex.split(command)).stdout
    differences = DIFFERENCE.findall(printed), DIFFERENCE.findall(shown)
    assert len(differences[0]) == len(differences[1]) == ("Proof:" in shown)
    assert all(0 < float(number) < 1e-4 for number in [*differences[0], *differences[1]])
    assert DIFFERENCE.sub("…", printed).strip() == DIFFERENCE.sub("…", shown).strip()


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
    assert ran[0] == wanted[0]
