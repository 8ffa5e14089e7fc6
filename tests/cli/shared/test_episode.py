"""An episode of a file, read by an actor of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.run import regard
from tests.train.tasks.small_actor import save_actor


def test_a_design_without_attention(tmp_path: Path) -> None:
    run = save_actor(tmp_path, "lstm")
    done = regard("read", "--model", run, "--episode", "3")
    assert done.returncode == 0, done.stderr
    assert "lstm has no attention: there are no weights to show" in done.stdout
    done = regard("read", "--model", run, "--episode", "3", "--head", "0")
    assert "lstm has no attention: leave --head out" in done.stderr


def test_a_page_and_another_file(tmp_path: Path) -> None:
    run = save_actor(tmp_path)
    own = tmp_path / "own.npz"
    np.savez(
        own,
        episode=["mine"] * 9,
        step=np.arange(9),
        state=np.zeros((9, 2)),
        action=[0, 1] * 4 + [1],
        reward=np.full(9, 0.5),
        names=["lean", "turn"],
    )
    page = tmp_path / "page.html"
    flags = ("--episode", "mine", "--episodes", own, "--html", page)
    done = regard("read", "--model", run, *flags)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("episode mine, step 8, 0.5 still to come: ")
    assert "what that looked at (layer 1, mean of 4 heads), steps 6 to 8:" in done.stdout
    assert "7 state: lean 0, turn 0" in page.read_text()
    piped = regard("read", "--model", run, *flags, "--json", "-")
    assert piped.stdout.count("\n") == 1


@pytest.mark.parametrize("at", ["9", "x", "-1"])
def test_a_step_that_is_none(tmp_path: Path, at: str) -> None:
    done = regard("read", "--model", save_actor(tmp_path), "--episode", "0", "--at", at)
    assert done.returncode == 2
    assert f"got '{at}'" in done.stderr
    assert done.stderr.count("\n") == 1
