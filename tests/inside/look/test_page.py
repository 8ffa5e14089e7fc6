"""What a page shows of a text."""

from __future__ import annotations

from typing import Any

import pytest

from regard.errors import RegardError
from regard.inside.look import page
from regard.inside.textmodel import TextModel


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
