"""Tiny models of each kind in folders, loaded once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from regard.inside.ablate.loading import text_reading
from regard.inside.textmodel import load
from tests.inside.tinytext import save

pytest.importorskip("transformers", minversion="5")

TEXT = "The animal didn't cross the street because it was tired"


@pytest.fixture(scope="package")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    home = tmp_path_factory.mktemp("ablate")
    made = {}
    for family, head in (
        ("Llama", "ForCausalLM"),
        ("GPT2", "ForCausalLM"),
        ("Roberta", "ForSequenceClassification"),
        ("Bart", "ForConditionalGeneration"),
    ):
        made[family] = home / family
        auto = "ForSeq2SeqLM" if family == "Bart" else head
        save(made[family], family, auto)
    return made


@pytest.fixture(scope="package")
def trials(folders: dict[str, Path]) -> dict[str, Any]:
    found = {}
    for family, folder in folders.items():
        target = "it was" if family == "Bart" else None
        found[family] = text_reading(load(str(folder), predicts=True))(TEXT, target)
    return found
