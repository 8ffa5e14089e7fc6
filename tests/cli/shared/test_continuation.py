"""regard read --continue: which options go together. What is said: tests/cli/test_read.py."""

from __future__ import annotations

import pytest

from regard.store.shipped import HOME
from tests.cli.run import regard


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["a", "--continue", "3", "--html", "p"], "--continue prints text and no attention"),
        (["a", "--continue", "3", "--n-best", "2"], "--n-best goes with --sample here"),
        (["a", "--continue", "3", "--seed", "2"], "--seed goes with --sample"),
        (["a", "--continue", "201"], "a text is continued by 1 to 200 words, got 201"),
        (["a", "--sample"], "--sample goes with --continue N"),
        (["--model", "translator", "a", "--continue", "2"], "holds no language model"),
    ],
)
def test_bad_input(arguments: list[str], text: str) -> None:
    done = regard("read", *(HOME / "bahdanau" if a == "translator" else a for a in arguments))
    assert done.returncode == 2
    assert text in done.stderr
    assert done.stderr.count("\n") == 1
