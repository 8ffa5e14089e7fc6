"""Episodes of a file: read, divided, and refused in one line each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.errors import DataError, RegardError
from regard.train.data.episodes import check_actions, divided_episodes, read_episodes
from regard.train.data.thingconfig import EpisodesConfig

TABLE = """episode,x,step,action,reward,v
a,0.5,0,left,1,2
a,1.5,1,right,2,-3
a,2.5,2,left,4,5
b,0,0,left,1,1
c,7,0,right,1,1
c,8,1,right,1,1
"""
ARRAYS: dict[str, Any] = {
    "episode": np.array([4, 4, 4, 9, 9]),
    "step": np.array([1, 2, 3, 1, 2]),
    "state": np.arange(10.0).reshape(5, 2),
    "action": np.array([0.0, 1.0, 0.0, 1.0, 1.0]),
    "reward": np.array([1, 2, 4, 8, 16]),
}


def save(folder: Path, **changed: Any) -> Path:
    np.savez(folder / "a.npz", **(ARRAYS | changed))
    return folder / "a.npz"


def test_a_table(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(TABLE)
    found = read_episodes(tmp_path / "a.csv")
    assert found.columns == ["x", "v"]
    assert [e.name for e in found.rows] == ["a", "c"]
    assert found.short == ["b"]
    first = found.of("a")
    assert first.states.tolist() == [[0.5, 2], [1.5, -3], [2.5, 5]]
    assert first.actions == ["left", "right", "left"]
    assert first.to_go().tolist() == [7, 6, 4]
    assert found.actions() == ["left", "right"]
    with pytest.raises(RegardError, match="episode 'b' has one step"):
        found.of("b")
    with pytest.raises(RegardError, match=r"no episode 'z' among 2 \(such as a, c\)"):
        found.of("z")


def test_arrays(tmp_path: Path) -> None:
    found = read_episodes(save(tmp_path))
    assert found.columns == ["0", "1"]
    assert [(e.name, e.first, len(e)) for e in found.rows] == [("4", 1, 3), ("9", 1, 2)]
    assert found.of("9").actions == ["1", "1"]
    assert found.of("9").to_go().tolist() == [24, 16]
    assert read_episodes(save(tmp_path, names=np.array(["x", "v"]))).columns == ["x", "v"]
    assert found.digest() != read_episodes(save(tmp_path, reward=np.arange(5))).digest()


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"step": np.array([1, 2, 4, 1, 2])}, "episode '4' of .* has a gap: step 4 stands behind"),
        ({"step": np.array([1, 3, 2, 1, 2])}, "has a gap: step 3"),
        ({"step": np.array([1, 2, 2, 1, 2])}, "is not sorted: step 2 stands behind step 2"),
        ({"step": np.array([5, 6, 7, 1, 2])}, "begins with step 5: an episode is given from its"),
        ({"episode": np.array([4, 4, 9, 9, 4])}, "row 4: episode '4' goes on behind another one"),
        ({"episode": np.arange(5), "step": np.ones(5)}, "has no episode of at least 2 steps"),
        ({"state": np.zeros((5, 2, 3))}, r"must be \(5, numbers\).*it is \(5, 2, 3\)"),
        ({"state": np.zeros((4, 2))}, r"'state' of .* must be \(5, numbers\)"),
        ({"state": np.zeros((5, 0))}, "states without numbers"),
        ({"state": np.full((5, 2), np.nan)}, "'state' of .* must be numbers, all of them finite"),
        ({"reward": np.array(list("abcde"))}, "'reward' of .* must be numbers"),
        ({"action": np.linspace(0, 1, 5)}, "'action' of .* must be whole numbers or names, not"),
        ({"step": np.array(list("12312"))}, "'step' of .* must be whole numbers"),
        ({"names": np.array(["x"])}, r"'names' of .* must be \(2,\)"),
        ({"episode": np.array(4)}, r"'episode' of .* must be \(0,\)"),
    ],
)  # fmt: skip
def test_arrays_that_are_refused(tmp_path: Path, changed: dict[str, Any], said: str) -> None:
    with pytest.raises(DataError, match=said):
        read_episodes(save(tmp_path, **changed))


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ("a,1.5,1,", "a,1.5,x,", "line 3: a step is a whole number from 0 or 1; got 'x'"),
        ("1,right,2", "1,0.25,2", "line 3: an episode and an action are names .* action '0.25'"),
        ("a,1.5", "a,1.5.5", "line 3: states and rewards are numbers .* got '1.5.5'"),
        ("a,1.5", "a,nan", "line 3: states and rewards are numbers"),
        ("c,8,1,right,1,1\n", "c,8,1,right,1\n", "line 7: expected 6 columns"),
        ("reward", "gain", "has no column 'reward'"),
        ("a,2.5,2", "a,2.5,3", "episode 'a' of .* has a gap: step 3 stands behind step 1"),
        ("c,7", "a,7", "row 6: episode 'a' goes on behind another one"),
    ],
)
def test_tables_that_are_refused(tmp_path: Path, before: str, after: str, said: str) -> None:
    (tmp_path / "a.csv").write_text(TABLE.replace(before, after, 1))
    with pytest.raises(DataError, match=said):
        read_episodes(tmp_path / "a.csv")


def test_files_that_are_none(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="there are no episodes at"):
        read_episodes(tmp_path / "none.npz")
    (tmp_path / "a.csv").write_text("episode,step,action,reward\n")
    with pytest.raises(DataError, match="has no column of a state"):
        read_episodes(tmp_path / "a.csv")
    (tmp_path / "a.csv").write_text("episode,step,action,reward,x\n")
    with pytest.raises(DataError, match="has no steps below its names"):
        read_episodes(tmp_path / "a.csv")
    many = {"episode": np.zeros(600), "step": np.arange(600), "state": np.zeros((600, 1))}
    with pytest.raises(DataError, match="600 different actions, more than 256"):
        read_episodes(save(tmp_path, **many, action=np.arange(600), reward=np.zeros(600)))


def many_episodes(folder: Path, actions: int = 2) -> str:
    """Forty episodes of two to four steps."""
    lengths = [2 + k % 3 for k in range(40)]
    count = sum(lengths)
    file = folder / "many.npz"
    np.savez(
        file,
        episode=np.repeat(np.arange(40), lengths),
        step=np.concatenate([np.arange(n) for n in lengths]),
        state=np.random.default_rng(1).normal(3, 2, (count, 3)),
        action=np.arange(count) % actions,
        reward=np.ones(count),
    )
    return str(file)


def test_divided_by_episodes(tmp_path: Path) -> None:
    data = EpisodesConfig(many_episodes(tmp_path), valid_share=0.2, test_share=0.2)
    found = divided_episodes(data)
    names = [{e.name for e in part} for part in (found.train, found.valid, found.test)]
    assert set.union(*names) == {str(k) for k in range(40)}
    assert sum(map(len, names)) == 40
    assert all(names)
    mean, spread, largest = found.scale()
    states = np.concatenate([e.states for e in found.train])
    assert mean == pytest.approx(states.mean(0))
    assert spread == pytest.approx(states.std(0))
    assert largest == found.longest == 4
    assert sorted(found.returns()) == sorted(len(e) for e in found.train)


def test_actions_that_are_unknown_or_only_one(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="have one action, '0': there is nothing to choose"):
        divided_episodes(EpisodesConfig(many_episodes(tmp_path, 1)))
    with pytest.raises(DataError, match=r"the training part of .* knows no action"):
        divided_episodes(EpisodesConfig(many_episodes(tmp_path, 120)))
    found = read_episodes(many_episodes(tmp_path, 3))
    with pytest.raises(DataError, match="'run' knows no action '2', which episode '1' has at step"):
        check_actions(found.rows, ["0", "1"], "'run'")
