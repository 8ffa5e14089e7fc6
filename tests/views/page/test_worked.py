"""Worked: the tables of a worked example, safe whatever its words are; in a browser every number
can be changed, what follows is computed, and the claims are judged anew."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.cli.shared.worked import check_claims, write_worked
from regard.trace import Step, Trace
from regard.views.compared import Compared
from regard.views.page.worked import Workable, worked_page, worked_section
from regard.worked.example import Example
from regard.worked.source import ExampleFile, shipped
from regard.worked.stages import compute
from tests.browser import Open, Sheet
from tests.views.page.test_axe import AXE, FINDINGS

TRACE = Trace(
    [Step("weights", np.array([[0.25, 0.75]]), axes=("query", "key"), formula="a < b")],
    tokens=["<i>", "c"],
)


def test_a_wrong_number_is_marked_beside_the_right_one() -> None:
    claims = {"weights": Compared(np.array([[0.5, 0.75]]), {(0, 0): "<s>"})}
    section = worked_section(TRACE, claims, notes=["one & all"])
    assert '<h2>weights <span class="wrong">1 wrong</span></h2>' in section
    row = '<td class="right" data-at="0">0.2500</td><td data-at="1">0.7500</td>'
    assert row in section
    claimed = '<td class="wrong" data-at="0">✗ 0.5000</td><td data-at="1">0.7500</td>'
    assert claimed in section
    assert "&lt;s&gt;" in section
    assert "<p>one &amp; all</p>" in section
    assert '<th scope="row">&lt;i&gt;</th>' in section
    assert "<i>" not in section


def test_the_page_fetches_nothing_and_runs_its_own_script_alone() -> None:
    page = worked_page("T", worked_section(TRACE, {}))
    assert "default-src &#x27;none&#x27;; script-src &#x27;sha256-" in page
    assert "connect-src &#x27;none&#x27;" in page
    assert 'class="claimed"' not in page.split("</head>")[1]


def test_too_many_numbers_are_shown_and_said_to_be_fixed() -> None:
    trace = Trace([Step("output", np.zeros((1, 4001)), axes=("query", "width"))], tokens=["a"])
    section = worked_section(trace, {}, workable=Workable({"arrays": {}, "numbers": {}}))
    assert "Its 4001 numbers are shown and cannot be changed here" in section
    assert "<script" not in section


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Of an example with the views above it, of one without, and of a learner's."""
    folder = tmp_path_factory.mktemp("worked")
    (folder / "d_k.toml").write_text(
        "scores = [[112, 96]]\nd_k = 64\n[claims]\nscaled = [[14, 12]]\nweights = [[0.88, 0.12]]"
    )
    for name, start in (("tutorial-printed", {"query": 0}), ("rnn-slides", None), ("d_k", None)):
        path = shipped().get(name, folder / f"{name}.toml")
        example = Example.from_file(ExampleFile.read(path))
        report = check_claims(example)
        to = str(folder / f"{name}.html")
        write_worked(to, example, compute(example), report, [], start, quietly=True)
    return folder


def field(sheet: Sheet, step: str, at: int, row: str = "tr:not(.claimed)") -> Any:
    return sheet.page.locator(f"table[data-step='{step}'] {row} td[data-at='{at}'] input")


def given(sheet: Sheet, name: str, at: int) -> Any:
    return sheet.page.locator(f"table[data-given='{name}'] td[data-at='{at}'] input")


def told(sheet: Sheet) -> str:
    text: str = sheet.page.inner_text(".worked-bar")
    return text


def test_a_number_is_changed_and_what_follows_is_shown(pages: Path, opened: Open) -> None:
    sheet = opened(pages / "d_k.html")
    assert "4 of the claims are right, 0 wrong." in told(sheet)
    given(sheet, "d_k", 0).fill("16")
    assert field(sheet, "scaled", 0).input_value() == "28.00"  # 112 / sqrt(16)
    assert "With your numbers: 0 of the claims are right, 4 wrong." in told(sheet)
    assert "e[i,j] / sqrt(16)" in sheet.page.inner_text(".worked")
    assert field(sheet, "scaled", 0, ".claimed").input_value() == "14"
    sheet.page.get_by_role("button", name="Back to the file's numbers").click()
    assert field(sheet, "scaled", 0).input_value() == "14.00"
    assert given(sheet, "d_k", 0).input_value() == "64"
    assert "As it stands: 4 of the claims are right, 0 wrong." in told(sheet)
    sheet.clean()


def test_claims_are_judged_by_their_digits(pages: Path, opened: Open) -> None:
    sheet = opened(pages / "d_k.html")
    field(sheet, "scaled", 1).fill("12.002")  # moves the weight from 0.8808 to 0.8806
    assert "3 of the claims are right, 1 wrong." in told(sheet)  # 12 is a whole number
    claim = sheet.page.locator("table[data-step=weights] tr.claimed input").first
    claim.evaluate("f => { f.value = '0.8808'; f.dispatchEvent(new Event('input')); }")
    assert "2 of the claims are right, 2 wrong." in told(sheet)
    assert claim.evaluate("f => f.parentElement.className") == "wrong yours"


def test_what_is_no_number_is_said_and_changes_nothing(pages: Path, opened: Open) -> None:
    sheet = opened(pages / "d_k.html")
    given(sheet, "d_k", 0).fill("abc")
    assert "“abc” is no number: write it like 0.5, -2 or 1/3." in told(sheet)
    assert given(sheet, "d_k", 0).get_attribute("aria-invalid") == "true"
    assert field(sheet, "scaled", 0).input_value() == "14.00"
    given(sheet, "d_k", 0).fill("0")
    assert "d_k must be a number above 0." in told(sheet)
    given(sheet, "d_k", 0).fill("")
    assert "must" not in told(sheet)
    field(sheet, "scores", 0).fill("1e308")
    given(sheet, "d_k", 0).fill("1e-300")
    assert "scaled cannot be computed with these numbers." in told(sheet)
    sheet.clean()


def test_the_views_above_show_what_follows(pages: Path, opened: Open) -> None:
    sheet = opened(pages / "tutorial-printed.html", "#view=steps&query=0")
    assert "10 of the claims are right, 9 wrong." in told(sheet)
    before = [row["weight"] for row in sheet.rows()]
    assert before == pytest.approx([0.3191, 0.3744, 0.3065], abs=1e-4)
    field(sheet, "keys", 0).fill("10")
    sheet.until(lambda: float(field(sheet, "weights", 0).input_value()) > 0.9)
    after = [row["weight"] for row in sheet.rows()]
    assert float(field(sheet, "weights", 0).input_value()) == pytest.approx(after[0], abs=1e-3)
    field(sheet, "weights", 0).fill("0.25")
    sheet.until(lambda: sheet.rows()[0]["weight"] == 0.25)
    sheet.clean()


def test_a_claim_typed_as_a_step_shows_what_follows_from_it(pages: Path, opened: Open) -> None:
    """The tutorial's wrong key makes its wrong scores right: they follow from it."""
    sheet = opened(pages / "tutorial-printed.html")
    field(sheet, "keys", 1).fill("0.6")
    assert "wrong" not in field(sheet, "scores", 1, ".claimed").evaluate(
        "f => f.parentElement.className"
    )
    assert not sheet.page.is_visible(".worked .why")


def test_a_page_in_chinese(pages: Path, opened: Open) -> None:
    sheet = opened(pages / "rnn-slides.html", locale="zh-CN")
    field(sheet, "step 1/state", 0).fill("x")
    assert not re.search("[A-Za-z]{3}", told(sheet))


@pytest.mark.skipif(not AXE.exists(), reason="axe-core is not here: make script fetches it")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(scheme: str, pages: Path, opened: Open) -> None:
    sheet = opened(pages / "tutorial-printed.html", color_scheme=scheme)
    field(sheet, "keys", 1).fill("0.6")
    sheet.page.wait_for_timeout(300)
    sheet.page.evaluate(AXE.read_text(encoding="utf-8"))
    assert sheet.page.evaluate(FINDINGS) == []
