"""What the README shows is what the commands print."""

from __future__ import annotations

import re
import shlex

import pytest

from tests.cli.run import ROOT, regard

BLOCKS = re.findall(
    r"```console\n\$ regard (.*)\n((?:.*\n)*?)```", (ROOT / "README.md").read_text()
)


def test_there_are_examples() -> None:
    assert len(BLOCKS) >= 2


@pytest.mark.parametrize(("command", "shown"), BLOCKS)
def test_the_readme_shows_what_is_printed(command: str, shown: str) -> None:
    assert regard(*shlex.split(command)).stdout.strip() == shown.strip()
