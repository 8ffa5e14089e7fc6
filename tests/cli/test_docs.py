"""``regard docs``: pages that exist, and no help that names anything else."""

from __future__ import annotations

import re
from collections.abc import Iterator

import click
import pytest

from regard.cli import COMMANDS
from regard.cli import regard as command
from regard.cli.docs import pages
from regard.worked.source import shipped
from tests.cli.run import ROOT, regard


def helps(group: click.Group, context: click.Context) -> Iterator[tuple[str, str]]:
    """The --help of every command below a group."""
    for name in group.list_commands(context):
        found = group.get_command(context, name)
        assert found is not None
        with click.Context(found, context, name) as below:
            yield below.command_path, found.get_help(below)
            if isinstance(found, click.Group):
                yield from helps(found, below)


HELPS = dict(helps(command, click.Context(command, info_name="regard")))


def test_the_pages_are_those_of_the_folder() -> None:
    assert set(pages()) == {path.stem for path in (ROOT / "docs").glob("*.md")}
    listed = regard("docs").stdout.splitlines()
    assert [line.split()[0] for line in listed] == sorted(pages())
    assert "check         Checking a worked example" in "\n".join(listed)
    assert regard("docs", "check").stdout == (ROOT / "docs" / "check.md").read_text()


def test_a_page_that_is_not_there() -> None:
    done = regard("docs", "chek")
    assert done.returncode == 2
    assert done.stderr.startswith("regard: error: there is no page 'chek'; did you mean 'check'?")


def test_there_is_help_for_every_command() -> None:
    assert {f"regard {name}" for name in COMMANDS} <= set(HELPS)
    assert "regard train lm" in HELPS


@pytest.mark.parametrize("path", HELPS)
def test_help_names_what_is_there(path: str) -> None:
    """An installation has neither the folder docs nor examples: it has 'regard docs' and names."""
    text = " ".join(HELPS[path].split())
    assert not re.search(r"\b(docs|examples)/|\.md\b", text)
    assert set(re.findall(r"'regard docs (\w+)'", text)) <= set(pages())
    assert set(re.findall(r"--example ([\w-]+)\b(?!\.)", text)) <= {*shipped(), "FILE", "TEXT"}
