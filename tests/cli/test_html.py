"""``--html``: commands write a page of what they show."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.cli.run import regard
from tests.models.bert.tinybert import save_tiny


def document(path: Path) -> Any:
    found = re.search(r'id="document">(.*?)</script>', path.read_text(encoding="utf-8"))
    assert found is not None
    return json.loads(found[1])


def test_explain_writes_the_example(tmp_path: Path) -> None:
    page = tmp_path / "two.html"
    done = regard("explain", "--example", "two-heads", "--word", "rose", "--html", page)
    assert done.returncode == 0
    assert f"Written: {page}" in done.stdout
    subject = document(page)["subjects"][0]
    assert subject["start"] == {"head": 0, "query": 3}
    assert subject["texts"][0]["tokens"] == ["bread", "butter", "bread", "rose"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("bert")
    save_tiny(made)
    return made


def test_explain_and_look_write_all_layers_of_a_model(folder: Path, tmp_path: Path) -> None:
    text = "the animal was tired"
    page = tmp_path / "it.html"
    done = regard(
        *("explain", text, "--model", folder, "--word", "animal", "--layer", "1", "--head", "2"),
        *("--compare", "the animal was wide", "--html", page),
    )
    assert done.returncode == 0, done.stderr
    content = document(page)
    assert [len(subject["layers"]) for subject in content["subjects"]] == [3, 3]
    start = content["subjects"][0]["start"]
    assert (start["view"], start["layer"], start["head"], start["query"]) == ("compare", 1, 2, 2)
    done = regard("look", folder, text, "--layer", "2", "--json", "-", "--html", page)
    assert done.returncode == 0, done.stderr
    json.loads(done.stdout)  # what is said about the page is not in the way
    assert f"Written: {page}" in done.stderr
    (layer,) = document(page)["subjects"][0]["layers"]
    assert (layer["number"], layer["shape"]) == (2, [6, 6])


def test_look_puts_two_texts_or_two_models_on_a_page(folder: Path, tmp_path: Path) -> None:
    page, other = tmp_path / "two.html", tmp_path / "other-bert"
    save_tiny(other)
    done = regard(
        *("look", folder, "the animal was tired", "--layer", "2", "--html", page),
        *("--compare", "the animal", "--compare-model", other),
    )
    assert done.returncode == 0, done.stderr
    first, second = document(page)["subjects"]
    assert (first["model"], second["model"]) == (folder.name, other.name)
    assert (first["title"], second["title"]) == ("the animal was tired", "the animal")
    assert first["start"]["view"] == "compare"
    done = regard("look", folder, "the animal", "--compare", "the street")
    assert done.returncode == 2
    assert "put a second side on a page: add --html" in done.stderr


def test_read_and_translate_write_what_was_read(tmp_path: Path) -> None:
    page = tmp_path / "read.html"
    done = regard("read", "The FBI is chasing a criminal .", "--html", page)
    assert done.returncode == 0, done.stderr
    subject = document(page)["subjects"][0]
    (layer,) = subject["layers"]
    assert subject["model"] == "lstmn"
    assert ("view" in subject["start"], layer["recurrent"]) == (False, True)
    assert layer["shape"] == [len(subject["texts"][0]["tokens"])] * 2
    done = regard("translate", "Guten Morgen!", "--html", page)
    assert done.returncode == 0, done.stderr
    subject = document(page)["subjects"][0]
    words = subject["layers"][0]
    assert ("view" in subject["start"], words["name"]) == (False, "words")
    assert words["kind"] == "cross"
    target, source = (subject["texts"][i] for i in words["texts"])
    assert (target["name"], source["name"]) == ("target", "source")
    assert source["tokens"][:3] == ["Guten", "Morgen", "!"]
    assert words["shape"] == [len(target["tokens"]), len(source["tokens"])]


def test_a_page_that_cannot_be_written(tmp_path: Path) -> None:
    done = regard("explain", "--example", "two-heads", "--html", tmp_path / "no" / "a.html")
    assert done.returncode == 2
    assert "cannot write" in done.stderr
