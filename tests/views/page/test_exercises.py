"""The page of exercises: it computes every mechanism, checks what is typed and keeps it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from regard.views.page.exercises import exercises_page
from regard.worked.check import check_file
from regard.worked.exercises.new import claimed_steps
from regard.worked.exercises.sheet import KINDS, exercises, read_sheet

FILL = """([number, typed]) => {
  const fields = document.getElementById(number).querySelectorAll('input');
  typed.forEach((text, i) => { fields[i].value = text; });
}"""


def test_only_its_own_script_may_run() -> None:
    page = exercises_page(exercises(1, 1), solutions=False)
    assert "default-src &#x27;none&#x27;; script-src &#x27;sha256-" in page
    assert "unsafe-inline" not in page


@pytest.fixture
def sheet(browser: Any, tmp_path: Path) -> Any:
    made = exercises(len(KINDS), 4)
    page = exercises_page(made, solutions=False)
    (tmp_path / "sheet.html").write_text(page, encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "sheet.html").as_uri())
    yield page, made
    assert errors == []
    context.close()


def test_every_exercise_has_a_field_for_every_number(sheet: Any) -> None:
    page, made = sheet
    for one in made:
        steps = claimed_steps(one["given"])
        fields = page.locator(f"[id='{one['number']}'] input").count()
        assert fields == sum(value.size for value in steps.values()), one["number"]


def test_right_answers_are_right_in_every_mechanism(sheet: Any) -> None:
    page, made = sheet
    for one in made:
        steps = claimed_steps(one["given"])
        typed = [f"{n:.4f}" for step in one["steps"] for n in steps[step].ravel()]
        page.evaluate(FILL, [one["number"], typed])
        section = page.locator(f"[id='{one['number']}']")
        section.get_by_role("button").click()
        assert section.locator(".verdict").inner_text() == f"{len(typed)} right, 0 wrong."


def test_answers_are_typed_checked_and_saved(sheet: Any, tmp_path: Path) -> None:
    page, made = sheet
    one = made[1]
    section = page.locator(f"#{one['number']}")
    weights = claimed_steps(one["given"])["weights"]
    cells = section.locator("input[data-step=weights]")
    for cell, number in zip(cells.all(), weights.flat, strict=True):
        cell.fill(f"{number:.3f}")
    cells.first.fill("0.999")
    cells.last.fill("")
    section.get_by_role("button").click()
    said = section.locator(".verdict").inner_text()
    assert re.match(r"7 right, 1 wrong, \d+ still to fill in\.", said)
    assert "wrong" in cells.first.get_attribute("class")
    with page.expect_download() as download:
        page.locator("#save").click()
    saved = tmp_path / "saved.html"
    download.value.save_as(saved)
    again = next(s for s in read_sheet(saved) if s.place.endswith(one["number"]))
    report = check_file(again)
    assert (report.right, len(report.wrong)) == (7, 1)
    page.goto(saved.as_uri())
    assert page.locator(f"#{one['number']} input[data-step=weights]").first.input_value() == "0.999"


def test_solutions_are_shown_in_their_own_page(browser: Any, tmp_path: Path) -> None:
    made = exercises(1, 4, "scaled")
    file = tmp_path / "solutions.html"
    file.write_text(exercises_page(made, solutions=True), encoding="utf-8")
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(file.as_uri())
    text = page.locator("#sheet").inner_text()
    for weight in claimed_steps(made[0]["given"])["weights"].flat:
        assert f"{weight:.4f}" in text or str(round(float(weight))) in text
    assert page.locator("input").count() == 0
    context.close()
