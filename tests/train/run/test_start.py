"""From a job to its run folder: what is refused, what is begun anew, what standard input is."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from regard.errors import ConfigError
from regard.store.folder import RunFolder
from regard.train.run.start import check_names, check_shape, train
from regard.train.settings import Tree
from regard.train.tasks.lm import Language
from tests.train.small_texts import sentences


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "text").write_text("\n".join(sentences()))
    shares = {"valid_share": 0.2, "test_share": 0.2, "max_length": 20}
    return {
        "data": {"text": str(tmp_path / "text"), "level": "space", "least": 1, **shares},
        "model": {"model": "lstm", "size": "tiny", "width": 8, "hidden": 8},
        "train": {"steps": 2, "batch_tokens": 24, "threads": 1},
    }


def test_a_run_folder_says_everything(tree: Tree, tmp_path: Path) -> None:
    outcome = train(Language(), tree, str(tmp_path / "run"))
    assert (outcome.reason, outcome.state.step, outcome.state.ended) == ("steps", 2, 2)
    config = RunFolder(tmp_path / "run").read_config()
    assert config["task"] == "lm"
    assert config["made"].keys() == {"regard", "torch", "text"}
    assert (tmp_path / "run" / "valid.txt").read_text().count("\n") == 7


def test_standard_input_can_be_read_once(tree: Tree, tmp_path: Path) -> None:
    tree["data"] |= {"text": "-", "valid": "-"}
    with pytest.raises(ConfigError, match=r"standard input \(-\) can be read once"):
        train(Language(), tree, str(tmp_path / "run"))
    assert not (tmp_path / "run").exists()


def test_a_run_without_its_vocabulary_learns_it_again(tree: Tree, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    train(Language(), tree, str(folder))
    tokens = (folder / "tokens.json").read_text()
    (folder / "tokens.json").unlink()
    train(Language(), {"train": {"steps": 3}}, str(folder), resume=True)
    assert (folder / "tokens.json").read_text() == tokens


def test_only_what_may_change_does(tree: Tree, tmp_path: Path) -> None:
    train(Language(), tree, str(tmp_path / "run"))
    for section, name in (("data", "split_seed"), ("train", "seed"), ("model", "layers")):
        with pytest.raises(ConfigError, match=rf"run with other settings: .*{section}\.{name} was"):
            train(Language(), {section: {name: 3}}, str(tmp_path / "run"), resume=True)


def test_minutes_count_from_the_command_on(tree: Tree, tmp_path: Path) -> None:
    tree["train"] |= {"minutes": 1.0, "steps": 0}
    outcome = train(Language(), tree, str(tmp_path / "run"), began=time.monotonic() - 61)
    assert (outcome.reason, outcome.state.step) == ("minutes", 0)
    assert outcome.state.seconds > 61


def begun(tree: Tree, tmp_path: Path, **model: object) -> Tree:
    """The same to be begun with the run in the folder ``first``, of another shape."""
    data = {k: v for k, v in tree["data"].items() if k not in ("level", "least")}
    more = {"start": str(tmp_path / "first")}
    return {"data": data, "model": tree["model"] | model, "train": tree["train"] | more}


def refused(tree: Tree, tmp_path: Path) -> str:
    with pytest.raises(ConfigError) as raised:
        train(Language(), tree, str(tmp_path / "second"))
    assert not (tmp_path / "second").exists()
    return str(raised.value)


def test_weights_of_another_computation_are_refused(tree: Tree, tmp_path: Path) -> None:
    """A window or an activation leaves the shape of every matrix as it was."""
    tree["model"]["model"] = "lstmn"
    train(Language(), tree, str(tmp_path / "first"))
    text = refused(begun(tree, tmp_path, window=3), tmp_path)
    assert "has model.window 0, and this run 3: what it learned would be computed with" in text
    assert "is of the design lstmn, and this run's of lstm: give --model lstmn, or" in refused(
        begun(tree, tmp_path, model="lstm"), tmp_path
    )
    train(Language(), begun(tree, tmp_path, window=0), str(tmp_path / "second"))


def test_a_named_activation_is_that_of_a_config_without_one() -> None:
    old, run = {"model": "transformer", "vocabulary": 70}, RunFolder("never read")
    run.read_config = lambda: {"model": old}  # type: ignore[method-assign]
    for new in ({}, {"activation": "relu"}, {"vocabulary": 71}, {"dropout": 0.3}):
        check_shape(run, "it", old | new, ["vocabulary"])
    with pytest.raises(ConfigError, match=r"model\.activation relu, and this run silu"):
        check_shape(run, "it", old | {"activation": "silu"}, ["vocabulary"])


def test_weights_of_another_task_are_refused(tree: Tree, tmp_path: Path) -> None:
    RunFolder(tmp_path / "first").write_config({"task": "classify", "model": {"model": "lstm"}})
    text = refused(begun(tree, tmp_path), tmp_path)
    assert text == (
        f"train.start (--from) {str(tmp_path / 'first')!r} holds a classifier, and this run trains "
        "a language model"
    )


@pytest.mark.parametrize("what", ["labels", "actions"])
def test_weights_that_know_other_names_are_refused(what: str, tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    run.write_config({"model": {what: ["left", "right"]}})
    check_names((run, run.model), {what: ["left", "right"]})
    with pytest.raises(
        ConfigError, match=rf"knows the {what} left, right, and this data has right"
    ):
        check_names((run, run.model), {what: ["right", "left"]})
