"""Settings: every problem at once, with its key and the nearest one."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import ConfigError, FileError
from regard.train.config import TrainConfig
from regard.train.data.thingconfig import SeriesConfig
from regard.train.settings import flat, gathered, make, merged, nested, parse_assignment, read_toml


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a.b=1", 1),
        ("a.b=1e-3", 0.001),
        ("a.b=.5", 0.5),
        ("a.b=true", True),
        ("a.b=cosine", "cosine"),
        ('a.b="1"', "1"),
        ("a.b=x=y", "x=y"),
    ],
)
def test_assignments(text: str, value: object) -> None:
    key, got = parse_assignment(text)
    assert key == "a.b"
    assert got == value
    assert type(got) is type(value)


@pytest.mark.parametrize("text", ["a.b", "=1", "a.=1"])
def test_not_an_assignment(text: str) -> None:
    with pytest.raises(ConfigError, match="key=value"):
        parse_assignment(text)


def test_a_setting_outside_the_sections() -> None:
    with pytest.raises(ConfigError, match=r"such as train\.seed=3; got train=3$"):
        gathered(None, [("train.steps", 5)], ["train=3"])


def test_a_file_whose_section_is_none(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text('data = "x"\n')
    with pytest.raises(ConfigError, match=r"such as train\.seed=3; got data='x'$"):
        gathered(str(tmp_path / "a.toml"), [("data.pairs", "t.tsv")], [])


def test_later_trees_win() -> None:
    assert merged({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}) == {"a": {"b": 3, "c": 2}}
    assert nested([("a.b", 1), ("a.c", 2)]) == {"a": {"b": 1, "c": 2}}
    assert flat({"a": {"b": 1}, "c": 2}) == {"a.b": 1, "c": 2}


def test_all_problems_at_once() -> None:
    tree = {"learnign_rate": 1, "steps": "many", "clip": -1.0, "schedule": "cosin", "beta1": 2}
    made, problems = make(TrainConfig, tree, "train")
    assert made is None
    text = "; ".join(problems)
    for part in (
        "no setting train.learnign_rate; did you mean 'learning_rate'",
        "train.steps must be a whole number, got 'many'",
        "train.schedule must be one of inverse-sqrt, cosine, constant, got 'cosin'",
        "train.clip must be at least 0, got -1.0",
        "train.beta1 must be from 0 to under 1, got 2.0",
    ):
        assert part in text


def test_signs_among_which_to_choose_are_quoted() -> None:
    _, problems = make(SeriesConfig, {"series": "a.csv", "decimal": "x"}, "data")
    assert problems == ["data.decimal must be one of '', '.', ',', got 'x'"]


def test_a_whole_number_is_a_number_but_true_is_not() -> None:
    made, problems = make(TrainConfig, {"clip": 2, "epochs": 3}, "train")
    assert made == TrainConfig(clip=2.0, epochs=3)
    assert not problems
    assert make(TrainConfig, {"clip": True}, "train")[0] is None
    assert make(TrainConfig, {"steps": 1.5}, "train")[0] is None


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("[train]\nsteps = 3\n")
    assert read_toml(path) == {"train": {"steps": 3}}
    path.write_text("[train\n")
    with pytest.raises(ConfigError, match="not TOML"):
        read_toml(path)
    with pytest.raises(FileError, match="No such file"):
        read_toml(tmp_path / "none.toml")
