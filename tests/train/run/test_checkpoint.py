"""Checkpoints: whole or not there, the last two kept, damage found."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from regard.errors import FileError
from regard.train.run.checkpoint import Checkpoint, Checkpoints
from regard.train.run.state import RunState, random_state


def saved(folder: Path, step: int, **state: object) -> None:
    weights = {"w": torch.full((2, 3), float(step)), "n": torch.tensor(7)}
    optimizer = {"w/exp_avg": torch.ones(2, 3) * step}
    known = RunState(step=step, **state)  # type: ignore[arg-type]
    Checkpoints(folder).save(Checkpoint(known, weights, optimizer, [random_state()]))


def names(folder: Path) -> dict[str, list[str]]:
    return {p.name[-2:]: sorted(f.name for f in p.iterdir()) for p in sorted(folder.glob("step-*"))}


def test_what_is_saved_is_loaded(tmp_path: Path) -> None:
    saved(tmp_path, 5, epoch=2, best=1.5, best_step=3, scores={"3": 1.5})
    found = Checkpoints(tmp_path).latest()
    assert found is not None
    assert found.state == RunState(step=5, epoch=2, best=1.5, best_step=3, scores={"3": 1.5})
    assert found.weights["w"].tolist() == [[5.0] * 3] * 2
    assert found.optimizer["w/exp_avg"].tolist() == [[5.0] * 3] * 2


def test_nothing_yet(tmp_path: Path) -> None:
    assert Checkpoints(tmp_path).latest() is None


def test_last_two_whole_and_wanted_weights(tmp_path: Path) -> None:
    for step in (1, 2, 3, 4, 5):
        saved(tmp_path, step, best_step=1, scores={"1": 9.0, "3": 8.0})
    assert names(tmp_path) == {
        "01": ["model.safetensors", "model.sha256"],
        "03": ["model.safetensors", "model.sha256"],
        "04": ["model.safetensors", "optimizer.safetensors", "state.json"],
        "05": ["model.safetensors", "optimizer.safetensors", "state.json"],
    }


def test_weights_that_the_older_checkpoint_names_stay(tmp_path: Path) -> None:
    saved(tmp_path, 1, best_step=1)
    saved(tmp_path, 2, best_step=1)
    saved(tmp_path, 3, best_step=3)
    assert list(names(tmp_path)) == ["01", "02", "03"]
    saved(tmp_path, 4, best_step=3)
    assert list(names(tmp_path)) == ["03", "04"]


@pytest.mark.parametrize("name", ["model.safetensors", "optimizer.safetensors", "state.json"])
def test_cut_in_half_falls_back(name: str, tmp_path: Path) -> None:
    saved(tmp_path, 1)
    saved(tmp_path, 2)
    path = tmp_path / "step-00000002" / name
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    notes: list[str] = []
    found = Checkpoints(tmp_path, notes.append).latest()
    assert found is not None
    assert found.state.step == 1
    assert "step-00000002 is damaged" in notes[0]
    assert (tmp_path / "damaged-step-00000002" / name).exists()


def test_all_damaged_is_an_error_and_nothing_goes(tmp_path: Path) -> None:
    saved(tmp_path, 1)
    (tmp_path / "step-00000001" / "model.safetensors").write_bytes(b"no")
    with pytest.raises(FileError, match=r"no checkpoint .* is whole"):
        Checkpoints(tmp_path).latest()
    assert (tmp_path / "damaged-step-00000001" / "state.json").exists()
    assert not Checkpoints(tmp_path).empty()
    with pytest.raises(FileError, match=r"no checkpoint .* is whole"):
        Checkpoints(tmp_path).latest()  # again: it does not begin anew in silence


@pytest.mark.parametrize(
    ("key", "value", "text"),
    [
        ("random", [{}], "its random state cannot be restored: 'python'"),
        ("random", 7, "not iterable"),
        ("random", [{"python": [3, [1], None], "numpy": [], "torch": ""}], "random state"),
        ("state", {"step": "one"}, "state.step must be a whole number, got 'one'"),
        ("state", {"stepp": 1}, "no setting state.stepp"),
        ("state", {"scores": [1]}, "state.scores must be a table"),
        ("files", {}, "model.safetensors"),
    ],
)
@pytest.mark.parametrize("checked", [True, False], ids=["checked", "as before 0.2"])
def test_a_wrong_state_is_a_damaged_checkpoint(
    key: str, value: object, text: str, checked: bool, tmp_path: Path
) -> None:
    saved(tmp_path, 1)
    saved(tmp_path, 2)
    path = tmp_path / "step-00000002" / "state.json"
    content = json.loads(path.read_text())
    content[key] = value
    if not checked:
        del content["check"]
    if key == "files":
        (path.parent / "model.safetensors").unlink()
    path.write_text(json.dumps(content))
    notes: list[str] = []
    found = Checkpoints(tmp_path, notes.append).latest()
    assert found is not None
    assert found.state.step == 1
    assert ("state.json was changed" if checked else text) in notes[0]


def test_another_state_for_the_same_weights(tmp_path: Path) -> None:
    saved(tmp_path, 5)
    before = {p.name: p.read_bytes() for p in (tmp_path / "step-00000005").iterdir()}
    Checkpoints(tmp_path).amend(RunState(step=5, validated=5), [random_state()])
    after = {p.name: p.read_bytes() for p in (tmp_path / "step-00000005").iterdir()}
    assert [name for name in before if before[name] != after[name]] == ["state.json"]
    assert Checkpoints(tmp_path).load(5).state.validated == 5


def test_what_a_kill_left_half_written_goes(tmp_path: Path) -> None:
    (tmp_path / ".writing-step-00000007").mkdir(parents=True)
    saved(tmp_path, 8)
    assert [path.name for path in tmp_path.iterdir()] == ["step-00000008"]


def test_one_changed_byte_is_found(tmp_path: Path) -> None:
    saved(tmp_path, 1)
    path = tmp_path / "step-00000001" / "model.safetensors"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(bytes(data))
    with pytest.raises(FileError, match="was cut or changed"):
        Checkpoints(tmp_path).load(1)


def test_average_by_hand(tmp_path: Path) -> None:
    for step in (1, 2, 6):
        saved(tmp_path, step, scores={"1": 0.0, "2": 0.0, "6": 0.0})
    steps, average = Checkpoints(tmp_path).average([1, 2, 6])
    assert steps == [1, 2, 6]
    assert average["w"].tolist() == [[3.0] * 3] * 2
    assert average["w"].dtype == torch.float32
    assert average["n"].item() == 7
