"""Measures of text: figures of a run folder, and errors that say the user's own words."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import RegardError
from regard.store.shipped import HOME
from regard.train.tasks.evaluate import evaluate

SAVED = Path(__file__).parents[2] / "store" / "saved" / "run"


def test_a_language_model_on_its_own_test_part_and_on_another() -> None:
    own = evaluate(SAVED, "mine")
    assert (own["model"], own["sentences"], own["tokens"]) == ("mine", 7, 35)
    assert own["perplexity"] == pytest.approx(14.3258, abs=1e-3)
    assert evaluate(SAVED, "mine", text=str(SAVED / "test.txt")) == own


def test_a_translator_on_two_files(tmp_path: Path) -> None:
    (tmp_path / "de").write_text("Ich bin müde.\nIch bin krank.\n", encoding="utf-8")
    (tmp_path / "en").write_text("I'm tired.\nI'm sick.\n")
    sides = {"source": str(tmp_path / "de"), "target": str(tmp_path / "en")}
    figures = evaluate(HOME / "bahdanau", "bahdanau", beam=1, **sides)
    assert (figures["sentences"], figures["beam"]) == (2, 1)
    assert [score["name"] for score in figures["scores"]] == ["BLEU", "chrF2"]
    first, own, right = evaluate(HOME / "bahdanau", "bahdanau", beam=1, rouge=True, **sides)[
        "summaries"
    ]
    assert (first["name"], first["words"]) == ("the first 3 words", 3.0)  # I, m, tired
    assert first["copied"] == 1.0
    assert own["name"] == "bahdanau"
    assert own["rouge"].keys() == {"ROUGE-1", "ROUGE-2", "ROUGE-L"}
    assert (right["rouge"], right["copied"]) == (None, 0.0)
    assert "pointer" not in own
    for files, text in (
        ({"pairs": "x", "source": "y"}, "not both"),
        ({"source": "y"}, "go together"),
    ):
        with pytest.raises(RegardError, match=text):
            evaluate(HOME / "bahdanau", "bahdanau", **files)


@pytest.mark.parametrize(
    ("name", "text"), [("bahdanau", "pairs .* --pairs"), ("lstmn", "text .* --text")]
)
def test_what_is_missing_is_said_of_the_model_that_was_named(name: str, text: str) -> None:
    with pytest.raises(RegardError, match=f"^'{name}' has no test {text} FILE$"):
        evaluate(HOME / name, name)
