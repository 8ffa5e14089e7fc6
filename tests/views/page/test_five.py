"""Five things that a new reader must manage without reading anything, played in a browser."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.pieces.marks import from_labels
from regard.pieces.sheet import Sheet, Subject
from regard.trace import Array
from regard.views.page import save_html
from tests.browser import Open
from tests.browser import Sheet as Page

TIRED = ["[CLS]", "The", "animal", "rested", "because", "it", "was", "tired", "[SEP]"]
WIDE = [*TIRED[:-2], "wide", "[SEP]"]
ANIMAL, RESTED, IT = 2, 3, 5


def weights(strength: float) -> Array:
    """Two heads: one spreads its attention, in the other *it* looks at *animal*."""
    n = len(TIRED)
    found = np.full((2, n, n), 1 / n)
    found[1, IT] = (1 - strength) / (n - 1)
    found[1, IT, ANIMAL] = strength
    return found.astype(np.float32)


def subject(tokens: list[str], strength: float) -> Subject:
    sheets = [
        Sheet("one", 0, 0, 0, weights=weights(0.2), heads=range(2)),
        Sheet("two", 1, 0, 0, weights=weights(strength), heads=range(2)),
    ]
    return Subject(" ".join(tokens[1:-1]), [from_labels(tokens)], sheets)


@pytest.fixture
def page(tmp_path: Path, opened: Open) -> Page:
    file = tmp_path / "page.html"
    save_html(file, subject(TIRED, 0.7), subject(WIDE, 0.3))
    return opened(file, reduced_motion="reduce")


def test_find_what_it_looks_at(page: Page) -> None:
    page.page.get_by_role("option", name="rested").click()
    page.page.get_by_role("option", name="it", exact=True).click()
    assert "it takes 70\u00a0% of what it hands on from animal." in page.page.inner_text(".told")


def test_change_a_word_and_see_the_difference(page: Page) -> None:
    page.page.get_by_role("option", name="it", exact=True).click()
    page.page.get_by_label("Text").select_option(index=1)
    page.page.wait_for_selector(".word.best[data-share='30\u00a0%']")
    page.page.get_by_label("Text").select_option(index=0)
    page.page.get_by_role("tab", name="Compare").click()
    page.page.get_by_label("Text").last.select_option(index=1)
    page.page.wait_for_selector(".compare-rows th:has-text('animal')")
    differences = {row["token"]: row["difference"] for row in page.rows()}
    assert differences["animal"] == pytest.approx(0.4, abs=1e-6)


def test_hide_a_word_and_see_the_change(page: Page) -> None:
    page.page.get_by_role("option", name="it", exact=True).click()
    page.page.get_by_role("button", name="What if animal were hidden?").click()
    page.page.wait_for_selector(".word.masked:has-text('animal')")
    assert "it takes 13\u00a0% of what it hands on from The." in page.page.inner_text(".told")
    page.page.get_by_role("button", name="Back").click()
    page.page.wait_for_selector(".word.best[data-share='70\u00a0%']")


def test_find_the_head_that_links_two_words(page: Page) -> None:
    page.choose(layer=0, head=0, **{"from": IT, "to": ANIMAL})
    page.page.get_by_role("button", name="Which heads link them?").click()
    page.page.wait_for_selector(".card-entropy:has-text('0.700')")
    page.page.locator(".card").first.click()
    assert (page.state["layer"], page.state["head"]) == ("1", "1")


def test_take_the_picture_away(page: Page) -> None:
    picture = page.saved("SVG").decode()
    assert ">animal</text>" in picture
    assert "70\u00a0%" in picture
    assert page.saved("PNG")[:4] == b"\x89PNG"
