"""The beginning of a look: some layers, and how often all of them are those."""

from __future__ import annotations

from typing import Any

import pytest

from regard.inside.look import beginning
from regard.inside.look.beginning import Beginning
from regard.inside.look.look import look
from regard.inside.textmodel import TextModel
from regard.pieces.look import LookRequest
from tests.inside.tinytext import SENTENCE


def test_all_of_few_layers(bert: tuple[TextModel, Any]) -> None:
    model, _ = bert
    begun = Beginning(model, model.read(SENTENCE), LookRequest())
    assert (begun.tried, begun.times) == (3, 1.0)
    assert begun(7).done == 3


def test_some_of_several(bert: tuple[TextModel, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    model, _ = bert
    monkeypatch.setattr(beginning, "TRIED", 2)
    tokens = model.read(SENTENCE)
    begun = Beginning(model, tokens, LookRequest())
    assert (begun.tried, begun.times) == (2, 1.5)
    found = begun(7)
    assert found.done == 2
    assert found.queries.labels == tokens.beginning(7).labels
    assert {layer for layer, _ in found.heads} == {0, 1}
    whole = look(model, tokens.beginning(7), LookRequest())
    assert whole.done == 3, "the model runs to its end again"
    assert all(found.heads[place] == whole.heads[place] for place in found.heads)


def test_a_measure_is_computed_to_its_end(
    bert: tuple[TextModel, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, _ = bert
    monkeypatch.setattr(beginning, "TRIED", 2)
    begun = Beginning(model, model.read(SENTENCE), LookRequest(measure="rollout"))
    assert (begun.tried, begun.times) == (3, 1.0)
    assert begun(7).done == 3
