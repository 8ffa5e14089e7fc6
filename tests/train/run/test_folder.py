"""A run folder while it is trained in: one process at a time, and no trace of what was refused."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from regard.errors import ConfigError, FileError
from regard.store.folder import RunFolder
from regard.train.run.folder import check_new, check_same, claimed


def test_one_process_at_a_time(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.write_config({})
    with (
        claimed(run, resume=True),
        pytest.raises(FileError, match="another process is training"),
        claimed(RunFolder(run.path), resume=True),
    ):
        raise AssertionError("two have it")
    with claimed(run, resume=True):
        assert (run.path / ".lock").exists()


def test_what_is_refused_leaves_no_trace(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "runs" / "one")
    with pytest.raises(ConfigError), claimed(run, resume=False):
        raise ConfigError("refused" if run.path.is_dir() else "not claimed")
    assert list(tmp_path.iterdir()) == []
    with claimed(run, resume=False):
        run.write_config({})
    assert run.config.exists()
    with pytest.raises(FileError, match="already holds a run"), claimed(run, resume=False):
        raise AssertionError("taken")


def test_a_folder_of_another_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "run").write_text("mine")
    with pytest.raises(FileError, match="not a run folder"):
        check_new(RunFolder(tmp_path / "run"))
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "one.txt").write_text("mine")
    for resume, text in ((False, "exists and is not a run"), (True, "it has no config.json")):
        with (
            pytest.raises(FileError, match=text),
            claimed(RunFolder(tmp_path / "thesis"), resume=resume),
        ):
            raise AssertionError("not ours")
    assert [path.name for path in (tmp_path / "thesis").iterdir()] == ["one.txt"]


def test_a_start_that_was_killed_can_be_made_again(tmp_path: Path) -> None:
    (tmp_path / ".lock").touch()
    (tmp_path / ".config-0123abcd.json").write_text("{")
    with claimed(RunFolder(tmp_path), resume=False):
        assert [path.name for path in tmp_path.iterdir()] == [".lock"]


def test_what_was_half_written_goes_wherever_it_is(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.write_config({})
    (run.checkpoints / "step-00000003").mkdir(parents=True)
    kinds = (".model-0123abcd.safetensors", ".state-0123abcd.json", ".model-0123abcd.sha256")
    for folder in (run.path, run.checkpoints / "step-00000003"):
        for name in kinds:
            (folder / name).write_text("half")
    with claimed(run, resume=True):
        hidden = [path.name for path in tmp_path.rglob(".*")]
    assert hidden == [".lock"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_is_refused_first(tmp_path: Path) -> None:
    tmp_path.chmod(0o500)
    with (
        pytest.raises(FileError, match="cannot make the folder"),
        claimed(RunFolder(tmp_path / "run"), resume=False),
    ):
        raise AssertionError("unwritable")


def test_a_folder_under_a_file_is_refused_first(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    run = RunFolder(tmp_path / "file" / "run")
    with pytest.raises(FileError, match="cannot make the folder"), claimed(run, resume=False):
        raise AssertionError("no folder")


def test_only_free_settings_may_change(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.write_config({"train": {"steps": 3, "seed": 1}})
    check_same(run, {"train": {"steps": 9, "seed": 1}}, ["train.steps"])
    with pytest.raises(ConfigError, match=r"train\.seed was 1, is 2; resume it with its own"):
        check_same(run, {"train": {"steps": 9, "seed": 2}}, ["train.steps"])


def test_a_setting_that_came_later_had_its_usual_value(tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    run.write_config({"train": {"seed": 1}})
    now = {"train": {"seed": 1, "precision": "float32"}}
    check_same(run, now, [], {"train.precision": "float32"})
    with pytest.raises(ConfigError, match=r"train.precision was None, is 'float32'"):
        check_same(run, now, [])
