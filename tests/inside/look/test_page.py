"""What a page shows of a text."""

from __future__ import annotations

import threading
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.errors import RegardError
from regard.inside.look import page
from regard.inside.look.look import look
from regard.inside.textmodel import TextModel, load
from regard.pieces.look import LookRequest
from tests.inside.tinytext import SENTENCE, save


def test_a_page_that_is_too_large_is_foreseen(
    llama: tuple[TextModel, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, tokens = llama[0], llama[0].read("the street " * 60)
    page.check_page(model, tokens)
    sizes: list[float] = []
    monkeypatch.setattr(page, "_check_size", lambda numbers, *_: sizes.append(numbers))
    page.check_page(model, tokens)
    page.subject_of_text(model, tokens)
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)
    monkeypatch.undo()
    monkeypatch.setattr(page, "MOST_MEGABYTES", 0.01)
    with pytest.raises(
        RegardError, match=r"a page of .* tokens and \d layers .*--layer, or .*serve"
    ):
        page.check_page(model, tokens)


def test_the_page_of_a_look_is_that_of_a_pass_of_its_own(bert: tuple[TextModel, Any]) -> None:
    model, tokens = bert[0], bert[0].read(SENTENCE)
    alone = page.subject_of_text(model, tokens)
    found = look(model, tokens, LookRequest(page=True, no_sink=True, word="it", words=True)).page
    assert found is not None
    assert found.texts == alone.texts
    assert [sheet.name for sheet in found.sheets] == [sheet.name for sheet in alone.sheets]
    for ours, theirs in zip(found.sheets, alone.sheets, strict=True):
        for name in ("query", "key", "value", "lse", "context"):
            np.testing.assert_allclose(getattr(ours, name), getattr(theirs, name), atol=1e-5)
        assert ours.allowed is None, "what the look leaves out, the page shows"
    assert look(model, tokens, LookRequest()).page is None
    one = look(model, tokens, LookRequest(page=True, layer=1)).page
    assert one is not None
    assert [sheet.number for sheet in one.sheets] == [1]


def test_a_look_that_was_stopped_has_no_page(bert: tuple[TextModel, Any]) -> None:
    model, stop = bert[0], threading.Event()
    stop.set()
    found = look(model, model.read(SENTENCE), LookRequest(page=True), stop=stop)
    assert (found.done, found.page) == (1, None)


def test_both_texts_of_an_encoder_and_a_decoder(tmp_path: Path) -> None:
    save(tmp_path, "Bart", "ModelForSeq2SeqLM", max_position_embeddings=512)
    model = load(str(tmp_path))
    tokens = model.read("The animal was tired.")
    target = model.target(tokens, "The street was wide")
    shown = look(model, tokens, LookRequest(part="cross", page=True), target=target).page
    assert shown is not None
    assert [text.name for text in shown.texts] == ["source", "target"]
    assert [text.labels for text in shown.texts] == [tokens.labels, target.labels]
    places = {(sheet.part, sheet.kind): (sheet.queries, sheet.keys) for sheet in shown.sheets}
    assert places == {
        ("encoder", "self"): (0, 0),
        ("decoder", "self"): (1, 1),
        ("decoder", "cross"): (1, 0),
    }


def test_the_page_opens_where_the_look_was(bert: tuple[TextModel, Any]) -> None:
    model, tokens = bert[0], bert[0].read(SENTENCE)
    for request, compared, start in (
        (LookRequest(), False, {"sinks": True}),
        (LookRequest(layer=1, head=3), False, {"head": 3, "sinks": True}),
        (LookRequest(word="unbelievable", words=True), False, {"query": 2, "sinks": True}),
        (LookRequest(no_sink=True), True, {"view": "compare", "sinks": False}),
    ):
        found = look(model, tokens, replace(request, page=True))
        assert found.page is not None
        shown = page.open_at(found.page, found, "a  text\n", compared=compared)
        assert shown.start == start
        assert shown.title == "a text"
