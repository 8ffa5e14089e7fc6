"""``regard ablate`` as a person runs it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.run import regard
from tests.models.bert.tinybert import save_tiny

SENTENCE = "the unbelievable animal was too tired. it didn't cross the street"


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("bert")
    save_tiny(folder)
    return folder


def test_json_of_a_link(bert: Path) -> None:
    done = regard("ablate", str(bert), SENTENCE, "--link", "it", "animal", "--json", "-")
    assert done.returncode == 0, done.stderr
    content = json.loads(done.stdout)
    assert [*content][:7] == [
        "model",
        "text",
        "metric",
        "target",
        "base",
        "effects",
        "correlation",
    ]
    assert (content["metric"], content["target"], content["base"]) == ("cosine", None, 1.0)
    first, second = content["effects"][:2]
    assert (first["layer"], first["head"], first["kl"]) == (None, None, None)
    assert [*second] == ["layer", "head", "query", "key", "weight", "value", "change", "kl"]
    assert second["change"] == pytest.approx(second["value"] - 1)


def test_a_translator_says_what_it_then_writes() -> None:
    done = regard("ablate", "transformer", "Ich habe keine Zeit.", "--part", "cross", "--top", "2")
    assert done.returncode == 0, done.stderr
    assert "then it writes" in done.stdout
    assert "Rank correlation of weight and |change| over 12 heads" in done.stdout


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--head", "3"], "--head takes LAYER.HEAD, both from 0, such as 3.1, got '3'"),
        (["--head", "99.0"], "there is no head 99.0"),
        (["--link", "it", "zebra"], "zebra"),
        (["--target", "street"], "predicts no word and no label"),
        (["--link", "it", "animal", "--word", "it"], "a --link or a --word, not both"),
        (["--each", "words", "--word", "it"], "leave out --word"),
        (["--layer", "0", "--head", "0.0"], "--layer stands for all its heads"),
        (["--no-renormalise"], "is about masked links and words"),
        (["--memory", "much"], "such as 512M, got 'much'"),
        (["--metric", "probability"], "cosine can be measured, got 'probability'"),
        (["--estimate"], "the cosine is at its highest"),
    ],
)
def test_refused_in_one_line(bert: Path, arguments: list[str], text: str) -> None:
    done = regard("ablate", str(bert), SENTENCE, *arguments)
    assert done.returncode == 2
    assert done.stderr.count("\n") == 1, done.stderr
    assert text in done.stderr
