"""The way of a word on the page: as data, and in a real Chromium."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.pieces.outcome import ModelOutcome, Trials
from regard.pieces.whole import Prediction
from regard.views.page import save_html
from regard.views.page.whole import whole_data
from tests.browser import Open
from tests.pieces.wholes import by_hand
from tests.views.page.cases import TOKENS, observed
from tests.views.page.test_axe import AXE, FINDINGS


def test_data() -> None:
    found = whole_data(by_hand())
    first = found["layers"][0]
    assert first["parts"] == [
        {"kind": "attention", "size": 10.0},
        {"kind": "feed-forward", "size": 20.0},
    ]
    assert first["size"] == 25.0
    assert first["steps"][0]["start"] == [3.0, 4.0, 0.0]
    assert found["predictions"][0] == {"word": "sat", "probability": 0.75}
    assert [row["name"] for row in found["parts"]["rows"]][:2] == [
        "layer 1 feed-forward",
        "layer 0 head 1",
    ]
    way = by_hand()
    way.parts = None
    assert whole_data(way)["parts"] is None


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    subject = observed(TOKENS).subject("text", model="toy")
    subject.whole, subject.start = by_hand(), {"view": "model"}
    path = tmp_path_factory.mktemp("whole") / "way.html"
    save_html(path, subject)
    return path


def test_the_view(file: Path, opened: Open) -> None:
    sheet = opened(file)
    panel = sheet.page.locator("#view-model")
    assert panel.locator("mark").inner_text().strip() == "cat"
    text = panel.inner_text()
    for said in ("0.7500", "Who said sat?", "The parts sum to 2.0000", "Proof: in every token"):
        assert said in text
    assert "[12.000 16.000 0.000" in " ".join(text.split())  # attention of the last layer
    panel.locator(".way-layer text").first.click()
    assert panel.locator("select").input_value() == "0"
    assert "[6.000 8.000 0.000" in " ".join(panel.inner_text().split())
    assert panel.locator("rect").count() == 6
    sheet.clean()


def test_in_chinese_it_says_nothing_in_english(file: Path, opened: Open) -> None:
    sheet = opened(file, locale="zh-CN")
    assert "+ 注意力" in (sheet.page.text_content("#view-model svg") or "")
    assert sheet.page.evaluate((Path(__file__).parent / "english.js").read_text()) == []


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: make script fetches it")
@pytest.mark.parametrize(("scheme", "width"), [("light", 1440), ("dark", 390)])
def test_axe_finds_nothing(scheme: str, width: int, file: Path, opened: Open) -> None:
    sheet = opened(file, width=width, color_scheme=scheme)
    sheet.page.evaluate(AXE.read_text(encoding="utf-8"))
    assert sheet.page.evaluate(FINDINGS) == []


def test_a_page_without_it_has_no_tab(tmp_path: Path, opened: Open) -> None:
    save_html(tmp_path / "plain.html", observed(TOKENS).subject("text"))
    sheet = opened(tmp_path / "plain.html")
    assert sheet.page.locator("#tab-model").is_hidden()
    sheet.page.evaluate("location.hash = 'view=model'")
    said = sheet.page.locator("#view-model")
    said.wait_for()
    assert "regard explain TEXT --whole --html FILE writes one" in said.inner_text()
    sheet.clean()


def test_what_was_carried_when_it_was_written(tmp_path: Path, opened: Open) -> None:
    subject = observed(TOKENS).subject("text", model="toy")
    subject.whole, subject.start = by_hand(), {"view": "model", "layer": 0, "head": 0}
    before, after = (
        ModelOutcome("next word", (Prediction("sat", 7, 2.0, p),)) for p in (0.75, 0.125)
    )
    subject.trials = Trials(before, (((1,), (), after),))
    save_html(tmp_path / "way.html", subject)
    page = opened(tmp_path / "way.html").page
    page.click(".trial > summary")
    words = page.locator(".trial .mask-word")
    assert [words.nth(i).is_disabled() for i in range(3)] == [True, False, True]
    assert page.locator("[data-focus=remove], [data-focus=cut]").first.is_disabled()
    assert "What is greyed was not computed" in page.inner_text(".trial-controls")
    words.nth(1).click()
    page.wait_for_selector(".outcome th:text-is('after')")
    assert page.inner_text(".outcome tbody tr").split() == ["sat", "0.750", "0.125", "−0.625"]
