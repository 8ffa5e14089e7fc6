"""An actor's scores: of recorded steps, and in an environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from regard.store.folder import RunFolder, load_actor
from regard.train.tasks.act import EpisodeRows, said_actions
from regard.train.tasks.actscores import measure_actor, read_for
from tests.cli.run import regard
from tests.train.tasks.small_actor import save_actor


def test_the_share_of_right_actions_step_by_step(tmp_path: Path) -> None:
    """Each step from the three before it and itself, no more and no less."""
    run = save_actor(tmp_path)
    model, _ = load_actor(run)
    episodes = read_for(model, "run", str(tmp_path / "episodes.npz")).rows
    part = EpisodeRows(episodes, model.config.actions)
    alone = []
    for window in part.each(3):
        batch = part.batch([window], model.device)
        alone.append(int(model(*batch[:4])[0, -1].argmax()))
    assert said_actions(model, part).tolist() == alone
    figures = measure_actor(RunFolder(run), "run", episodes=str(tmp_path / "episodes.npz"))
    right = np.concatenate(part.actions)
    assert figures["steps"] == len(right)
    assert figures["accuracies"][-1]["accuracy"] == pytest.approx((right == alone).mean())
    returns = [float(len(episode)) for episode in episodes]
    assert figures["recorded"]["value"] == pytest.approx(np.mean(returns))
    spread = np.std(returns, ddof=1) / len(returns) ** 0.5
    assert figures["recorded"]["error"] == pytest.approx(spread)


def test_acting_beside_others(tmp_path: Path) -> None:
    pytest.importorskip("gymnasium")
    run = save_actor(tmp_path, width=4)
    asked = ("--environment", "CartPole-v1", "--trials", "2", "--seed", "5")
    done = regard("evaluate", run, *asked, "--json", "-")
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["seeds"] == [5, 6]
    names = [each["name"] for each in figures["acted"]]
    assert names == [
        *("by chance", "last state, linear", "last state, linear, best tenth"),
        *["transformer"] * 5,
    ]
    assert [each["asked"] for each in figures["acted"][3:]] == [2, 3, 4, 5, 6]
    again = regard("evaluate", run, *asked, "--returns", "2,3,4,5,6", "--json", "-")
    assert json.loads(again.stdout)["acted"] == figures["acted"]
    shown = regard("evaluate", run, *asked).stdout
    assert max(map(len, shown.splitlines())) <= 80
    assert "transformer, asked for 6" in shown


def test_without_gymnasium_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    done = regard("evaluate", save_actor(tmp_path), "--environment", "CartPole-v1")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == (
        "regard: error: acting in an environment needs gymnasium: pip install gymnasium\n"
    )
