"""A look as JSON and CSV."""

from __future__ import annotations

from typing import Any

import pytest

from regard.inside.look.files import csv_rows, look_json
from regard.inside.look.look import look
from regard.inside.textmodel import TextModel
from regard.pieces.look import LookRequest
from tests.inside.tinytext import SENTENCE


def test_files(bert: tuple[TextModel, Any]) -> None:
    model, _ = bert
    tokens = model.read(SENTENCE)
    found = look(model, tokens, LookRequest(word="it", words=True, links=2))
    content = look_json(found)
    assert content["tokens"] == tokens.labels
    assert content["words"][2] == ["unbelievable", 2, 6]
    assert [(h["layer"], h["head"]) for h in content["heads"]] == sorted(found.heads)
    assert all(len(h["links"]) == 2 for h in content["heads"])
    sums = sum(entry["mean"] for entry in content["word"]["attends_to"])
    assert sums == pytest.approx(1, abs=1e-5)
    rows = list(csv_rows(found))
    assert rows[0] == ["layer", "head", "direction", "position", "text", "weight"]
    assert len(rows) == 1 + 2 * 3 * 5 * len(tokens.words)
    one = look(model, tokens, LookRequest(layer=0, head=0))
    weights = look_json(one)["map"]["weights"]
    assert [sum(row) for row in weights] == pytest.approx([1] * len(tokens), abs=1e-5)
    assert len(list(csv_rows(one))) == 1 + len(tokens) ** 2
