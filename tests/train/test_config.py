"""Train config: settings against each other; the documentation lists every one."""

from __future__ import annotations

import ast
import math
from pathlib import Path

import pytest

from regard.errors import ConfigError
from regard.train.config import TrainConfig


@pytest.mark.parametrize(
    ("settings", "text"),
    [
        ({"patience": 0}, "needs another end"),
        ({"schedule": "cosine"}, "need an end"),
        ({"sharded": True}, "train.monitor=loss"),
        ({"learning_rate": 0.0}, "greater than 0"),
        ({"average": 0, "batch_tokens": 1}, "average .* 1, got 0; batch_tokens"),
        ({"minutes": math.nan}, "minutes must be at least 0, got nan"),
        ({"minutes": math.inf}, "minutes must be at least 0, and finite, got inf"),
        ({"weight_decay": math.inf, "clip": math.nan}, "weight_decay .* inf; clip .* nan"),
        ({"seed": 2**32}, "seed must be at most 4,294,967,295, got 4294967296"),
        ({"threads": 100_000}, "threads must be at most 1,024, got 100000"),
    ],
)
def test_settings_against_each_other(settings: dict[str, object], text: str) -> None:
    with pytest.raises(ConfigError, match=text):
        TrainConfig(**settings)  # type: ignore[arg-type]


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
