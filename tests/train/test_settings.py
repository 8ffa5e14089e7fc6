"""Settings and configs: every problem at once, with its key and the nearest one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from regard.errors import ConfigError, FileError
from regard.train.config import TrainConfig
from regard.train.data.config import PairsConfig, reversed_sides
from regard.train.settings import flat, make, merged, nested, parse_assignment, read_toml


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


def test_a_whole_number_is_a_number_but_true_is_not() -> None:
    made, problems = make(TrainConfig, {"clip": 2, "epochs": 3}, "train")
    assert made == TrainConfig(clip=2.0, epochs=3)
    assert not problems
    assert make(TrainConfig, {"clip": True}, "train")[0] is None
    assert make(TrainConfig, {"steps": 1.5}, "train")[0] is None


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"patience": 0}, "needs another end"),
        ({"schedule": "cosine"}, "need an end"),
        ({"sharded": True}, "train.monitor=loss"),
        ({"learning_rate": 0.0}, "greater than 0"),
        ({"average": 0, "batch_tokens": 1}, "average .* 1, got 0; batch_tokens"),
    ],
)
def test_settings_against_each_other(settings: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        TrainConfig(**settings)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({}, "pairs is missing"),
        ({"pairs": "a", "source": "b"}, "give one"),
        ({"source": "b"}, "target is missing"),
        ({"pairs": "a", "valid_target": "b"}, "valid_source is missing"),
        ({"pairs": "a", "target_column": 1}, "both 1"),
        ({"pairs": "a", "valid_share": 0.5}, "under 0.5, got 0.5"),
        ({"pairs": "a", "vocabulary": 3}, "at least 5"),
    ],
)
def test_pairs_against_each_other(settings: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        PairsConfig(**settings)  # type: ignore[arg-type]


def test_toml(tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text("[train]\nsteps = 3\n")
    assert read_toml(path) == {"train": {"steps": 3}}
    path.write_text("[train\n")
    with pytest.raises(ConfigError, match="not TOML"):
        read_toml(path)
    with pytest.raises(FileError, match="No such file"):
        read_toml(tmp_path / "none.toml")


@pytest.mark.parametrize(
    ("page", "file", "section", "names"),
    [
        ("train", "config", "train", ["TrainConfig"]),
        ("train", "data/config", "data", ["PairsConfig", "PartsConfig"]),
        ("language", "data/config", "data", ["TextConfig", "SentencesConfig", "PartsConfig"]),
        ("classify", "data/config", "data", ["LabelledConfig", "SentencesConfig", "PartsConfig"]),
    ],
)
def test_the_documentation_lists_every_setting(
    page: str, file: str, section: str, names: list[str]
) -> None:
    root = Path(__file__).parents[2]
    text = (root / f"docs/{page}.md").read_text(encoding="utf-8")
    tree = ast.parse((root / f"regard/train/{file}.py").read_text(encoding="utf-8"))
    kinds = [n for n in tree.body if isinstance(n, ast.ClassDef) and n.name in names]
    assert len(kinds) == len(names)
    for field, sentence in (
        p for kind in kinds for p in zip(kind.body, kind.body[1:], strict=False)
    ):
        if isinstance(field, ast.AnnAssign):
            assert isinstance(field.target, ast.Name)
            assert field.value is not None
            assert isinstance(sentence, ast.Expr)
            default = ast.unparse(field.value).strip("'")
            said = ast.literal_eval(sentence.value)
            assert f"| `{section}.{field.target.id}` | {default} | {said} |" in text


def test_reversed_sides() -> None:
    assert reversed_sides({"source": "a", "target": "b", "valid_source": "c", "pairs": "d"}) == {
        "source_column": 2,
        "target_column": 1,
        "target": "a",
        "source": "b",
        "valid_target": "c",
        "pairs": "d",
    }
    assert reversed_sides({"source_column": 3})["target_column"] == 3
