"""Which trial a name and a text mean."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import regard
from regard.inside.ablate.loading import own_reading, text_reading
from regard.inside.textmodel import load
from tests.inside.tinytext import save


def test_own_models_by_name() -> None:
    kinds = {
        name: type(own_reading(name)(text, None)).__name__
        for name, text in (("bahdanau", "Ja."), ("lstmn", "The cat"))
    }
    assert kinds == {"bahdanau": "TranslatorTrial", "lstmn": "OwnWordTrial"}


def test_models_of_transformers_by_what_they_predict(
    trials: dict[str, Any], tmp_path: Path
) -> None:
    kinds = {family: type(trial).__name__ for family, trial in trials.items()}
    assert kinds == {
        "Llama": "WordTrial",
        "GPT2": "WordTrial",
        "Roberta": "LabelTrial",
        "Bart": "WritingTrial",
    }
    save(tmp_path / "blank", "Roberta", "ForMaskedLM")
    read = text_reading(load(str(tmp_path / "blank"), predicts=True))
    with pytest.raises(regard.RegardError, match="predicts the word in a blank"):
        read("The animal", None)
    save(tmp_path / "plain", "Roberta")
    plain = text_reading(load(str(tmp_path / "plain"), predicts=True))
    assert plain("The animal", None).metrics == ("cosine",)
    with pytest.raises(regard.RegardError, match="predicts no word and no label"):
        plain("The animal", "street")
