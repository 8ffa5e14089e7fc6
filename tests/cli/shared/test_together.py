"""``--with``: several translators as a person runs them, with a tiny trained model."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.store.shipped import HOME
from tests.cli.run import regard
from tests.cli.test_translate import SENTENCES, run, translate

__all__ = ["run"]


def test_several_models_propose_and_judge(run: Path) -> None:
    done = translate(run, "--with", run, *(source for source, _ in SENTENCES))
    assert done.stdout.splitlines() == [target for _, target in SENTENCES]
    both = translate(run, "--with", run, "der hund isst", "", "--n-best", "2").stdout
    alone = translate(run, "der hund isst", "", "--n-best", "2").stdout
    assert both == alone, "a model agrees with itself: the same order, the same scores"


def test_several_models_as_json(run: Path) -> None:
    done = translate(run, "--with", run, "--with", run, "der hund isst", "--json", "-")
    (found,) = map(json.loads, done.stdout.splitlines())
    assert found["text"] == "the dog eats"
    assert [each["model"] for each in found["scores"]] == [str(run)] * 3
    assert found["score"] == pytest.approx(found["scores"][0]["score"], abs=1e-5)
    several = translate(run, "--with", run, "der hund isst", "--json", "-", "--n-best", "2").stdout
    assert [set(each) for each in json.loads(several)["n_best"]] == [
        {"text", "score", "scores"}
    ] * 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ("--alignment", "--with chooses among what several models say, and --alignment is of one"),
        ("--sample", "and --sample is of one: leave one of them out"),
        ("--head 0", "and --head is of one"),
        ("--html page.html", "and --html is of one"),
    ],
)
def test_what_is_of_one_model_is_refused_of_several(run: Path, arguments: str, text: str) -> None:
    done = translate(run, "--with", run, "der hund isst", *arguments.split())
    assert done.returncode == 2
    assert text in done.stderr
    assert done.stderr.count("\n") == 1
    assert not Path("page.html").exists()


def test_several_models_are_evaluated(run: Path) -> None:
    done = regard("evaluate", run, "--with", run, "--json", "-")
    assert done.returncode == 0, done.stderr
    alone = regard("evaluate", run, "--json", "-")
    assert json.loads(done.stdout) == json.loads(alone.stdout)
    done = regard("evaluate", run, "--with", run, "--with", "nobody", "--json", "-")
    assert done.returncode == 2
    assert "nobody" in done.stderr, "every one of them counts"
    done = regard("evaluate", run, "--with", run, "--rouge")
    assert (done.returncode, done.stderr) == (
        2,
        "regard: error: --rouge is of the summaries of one model: leave --with out\n",
    )


@pytest.mark.parametrize("command", ["translate", "evaluate"])
def test_models_that_translate_opposite_ways_are_refused(command: str) -> None:
    what = ("Danke.",) if command == "translate" else ()
    model = ("--model", "transformer") if command == "translate" else ("transformer",)
    done = regard(command, *model, "--with", "bahdanau", "--with", "english-german", *what)
    assert (done.returncode, done.stderr) == (
        2,
        "regard: error: 'english-german' translates English to German and 'transformer' German to "
        "English: only models that translate the same way can choose together\n",
    )


def test_the_way_of_a_model_of_the_package_is_known_by_its_folder() -> None:
    done = regard("translate", "--model", "bahdanau", "--with", HOME / "english-german", "Danke.")
    assert done.returncode == 2
    assert "'english-german' translates English to German and 'bahdanau'" in done.stderr
