"""A worked example explained: by word where it is self-attention, whole where it is not."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.run import regard
from tests.cli.test_check import CORRECTED


def test_which_of_equal_words_is_meant_is_said() -> None:
    done = regard("explain", "--example", "two-heads", "--word", "bread")
    assert done.returncode == 0, done.stderr
    assert "'bread' occurs 2 times; this is the one at position " in done.stdout


def test_what_is_no_self_attention_is_shown_whole(tmp_path: Path) -> None:
    done = regard("explain", "--example", "rnn-slides", "--json", tmp_path / "steps.json")
    assert done.returncode == 0, done.stderr
    assert "step 2/state" in done.stdout
    assert "What does" not in done.stdout
    assert (tmp_path / "steps.json").stat().st_size > 100


@pytest.mark.parametrize(
    ("given", "error"),
    [
        (["--example", CORRECTED, "--layer", "1"], "--layer does not apply here: it goes with a"),
        (["--example", CORRECTED, "--seed", "1"], "--seed does not apply here: with --example the"),
        (["--example", CORRECTED, "--head", "1"], "--head must be below 1, got 1"),
        (["--example", "rnn-slides", "--form", "both"], "--form does not apply here: every step"),
        (["a", "--heads", "3"], "--heads does not apply here: only --mechanism multihead has"),
        (["a", "--mechanism", "scaled", "--key-width", "3"], "--key-width does not apply here"),
    ],
)
def test_what_does_not_apply(given: list[str], error: str) -> None:
    done = regard("explain", *given)
    assert done.returncode == 2
    assert error in done.stderr
    assert len(done.stderr.splitlines()) == 1
