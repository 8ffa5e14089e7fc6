"""Measures in place of the weights of a page."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from regard.errors import RegardError
from regard.inside.look.exploration import Exploration
from regard.inside.look.look import look
from regard.inside.look.measured import PageMeasures, Remembered, measured_numbers
from regard.inside.look.page import check_page, subject_of_text
from regard.inside.measures.measure import measured_maps
from regard.inside.textmodel import TextModel
from regard.inside.whatif.wish import Wish
from regard.pieces.look import LookRequest
from regard.pieces.measures import MEASURES
from regard.pieces.sheet import MeasureSheets
from tests.inside.tinytext import SENTENCE


def held(found: MeasureSheets, maps: Any) -> None:
    """The sheets of a measure are its maps, layer by layer and head by head."""
    count = 0
    for sheet in found.sheets:
        assert sheet is not None
        assert sheet.weights is not None
        for head, weights in enumerate(sheet.weights):
            np.testing.assert_allclose(weights, maps[sheet.number, head].dense(), atol=1e-6)
            count += 1
    assert count == len(maps)


def test_what_costs_little_is_added_unasked_and_the_rest_where_it_is_asked_for(
    bert: tuple[TextModel, Any], llama: tuple[TextModel, Any]
) -> None:
    model, tokens = bert[0], bert[0].read(SENTENCE)
    found = look(model, tokens, LookRequest(page=True)).page
    assert found is not None
    there = {one.name: len(one.sheets) for one in found.measures}
    assert there == {"norm": 3, "rollout": 3, "flow": 0, "value-zeroing": 0, "gradient": 0}
    assert all(not one.reason for one in found.measures)
    request = LookRequest(page=True, measure="value-zeroing", more=("flow",))
    asked = look(model, tokens, request).page
    assert asked is not None
    run = lambda: model.run(tokens)  # noqa: E731
    for one in asked.measures:
        if one.name == "gradient":
            assert one.sheets == []
        else:
            held(one, measured_maps(model.network, run, one.name))
    assert asked.numbers > found.numbers
    model = llama[0]
    long = look(model, model.read("the street " * 60), LookRequest(page=True)).page
    assert long is not None
    assert all(not one.sheets for one in long.measures), "of a long text nothing is added unasked"


def test_one_layer_of_a_rollout_has_gone_through_those_before(bert: tuple[TextModel, Any]) -> None:
    model, tokens = bert[0], bert[0].read(SENTENCE)
    every = measured_maps(model.network, lambda: model.run(tokens), "rollout")
    seen = look(model, tokens, LookRequest(page=True, layer=2)).page
    alone = subject_of_text(model, tokens, None, [2], PageMeasures(model, tokens))
    for subject in (seen, alone):
        assert subject is not None
        (sheet,) = next(one for one in subject.measures if one.name == "rollout").sheets
        assert sheet is not None
        assert sheet.weights is not None
        np.testing.assert_allclose(sheet.weights[0], every[2, 0].dense(), atol=1e-6)


def test_a_measure_that_fails_is_told_or_refused(
    bert: tuple[TextModel, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokens = bert[0], bert[0].read(SENTENCE)

    def fails(*_: Any) -> None:
        raise RegardError("no matrix is given what its heads mixed")

    monkeypatch.setattr("regard.inside.measures.measure.find_outputs", fails)
    found = look(model, tokens, LookRequest(page=True)).page
    assert found is not None
    norm, rollout, *_ = found.measures
    assert (norm.sheets, norm.reason) == ([], "no matrix is given what its heads mixed")
    assert len(rollout.sheets) == 3
    with pytest.raises(RegardError, match="no matrix is given"):
        look(model, tokens, LookRequest(page=True, measure="norm"))


def test_a_measure_is_asked_once_about_a_layer() -> None:
    asked: list[Any] = []
    once = Remembered(lambda layer: asked.append(layer))  # type: ignore[arg-type, return-value]
    first: Any = object()
    second: Any = object()
    for layer in (first, first, second, second):
        once(layer)
    assert asked == [first, second]


def test_the_size_of_a_page_with_measures_is_foreseen(
    llama: tuple[TextModel, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert measured_numbers(5, 7, ("norm", "gradient", "rollout")) == 49 * 11
    model, tokens = llama[0], llama[0].read("the street " * 60)
    monkeypatch.setattr("regard.inside.look.page.MOST_MEGABYTES", 0.2)
    check_page(model, tokens)
    with pytest.raises(RegardError, match="choose one layer with --layer"):
        check_page(model, tokens, measures=("norm", "gradient"))


def test_a_measure_of_an_exploration(
    bert: tuple[TextModel, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = bert[0]
    base = Exploration(model, model.read(SENTENCE), None, SENTENCE)
    base.run(lambda: None)
    assert [one.name for one in base.subject()[0].measures] == list(MEASURES)
    measured = base.measured("norm")
    measured.run(lambda: None)
    assert measured.found is not None
    held(measured.found, measured_maps(model.network, lambda: model.run(base.tokens), "norm"))
    changed = base.changed(Wish(removed=((0, 1),)))
    changed.run(lambda: None)
    with pytest.raises(RegardError, match="of the model as it is: take the change back"):
        changed.measured("norm").run(lambda: None)
    monkeypatch.setattr("regard.inside.look.exploration.WHOLE", 100)
    with pytest.raises(RegardError, match=r"norm of .* tokens has .* million numbers"):
        base.measured("norm").run(lambda: None)
