"""A sheet: different exercises, no solutions in the page, and a page that checks as regard does."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from regard.errors import RegardError
from regard.worked.check import check_file
from regard.worked.exercises.new import claimed_steps
from regard.worked.exercises.sheet import KINDS, exercises, read_sheet, write_sheet


def answers_in(page: str, answers: dict[str, Any]) -> str:
    return page.replace('id="answers">{}', f'id="answers">{json.dumps(answers)}')


def test_exercises_are_different_and_numbered() -> None:
    made = exercises(14, 7)
    assert len({json.dumps(one["given"]) for one in made}) == 14
    assert [one["number"] for one in made[:3]] == ["softmax-7-1", "simple-7-2", "dot-7-3"]
    assert {one["given"]["mechanism"] for one in exercises(3, 1, "scaled")} == {"scaled"}
    assert exercises(3, 7) == exercises(3, 7)
    with pytest.raises(RegardError, match="1 to 100 exercises, got 101"):
        exercises(101, 1)
    with pytest.raises(RegardError, match="a sheet has exercises of softmax, simple"):
        exercises(3, 1, "lstm")


def test_the_first_file_holds_no_solutions(tmp_path: Path) -> None:
    made = exercises(4, 2, "scaled")
    beside = write_sheet(tmp_path / "sheet.html", made)
    assert beside == tmp_path / "sheet-solutions.html"
    page = (tmp_path / "sheet.html").read_text(encoding="utf-8")
    assert "http" not in page.replace("http-equiv", "")
    for one in made:
        for weight in claimed_steps(one["given"])["weights"].flat:
            assert f"{weight:.4f}" not in page


def test_regard_check_reads_what_was_saved(tmp_path: Path) -> None:
    path = tmp_path / "sheet.html"
    made = exercises(2, 2, "simple")
    write_sheet(path, made)
    assert [check_file(source).right for source in read_sheet(path)] == [0, 0]
    right = claimed_steps(made[0]["given"])["weights"]
    typed = [[f"{number:.3f}" for number in row] for row in right]
    typed[0][0], typed[1][1] = "9,5", ""
    path.write_text(
        answers_in(path.read_text(encoding="utf-8"), {made[0]["number"]: {"weights": typed}}),
        encoding="utf-8",
    )
    first = check_file(read_sheet(path)[0])
    assert first.right == 7
    assert [wrong.to_dict()["claimed"] for wrong in first.wrong] == [9.5]
    assert read_sheet(path)[0].place == f"{path}#simple-2-1"


def test_fractions_and_nonsense(tmp_path: Path) -> None:
    path = tmp_path / "sheet.html"
    made = exercises(1, 2, "simple")
    write_sheet(path, made)
    page = path.read_text(encoding="utf-8")
    number = made[0]["number"]
    path.write_text(answers_in(page, {number: {"weights": [["1/3", "2/0", ""]]}}))
    (source,) = read_sheet(path)
    assert [str(cell) for cell in source.content["claims"]["weights"][0]] == ["0.333", "2/0", "?"]
    path.write_text(answers_in(page, {number: 3}))
    with pytest.raises(RegardError, match="is a damaged sheet"):
        read_sheet(path)
    path.write_text("<html></html>")
    with pytest.raises(RegardError, match="is no sheet of exercises"):
        read_sheet(path)


@pytest.fixture
def sheet(browser: Any, tmp_path: Path) -> Any:
    made = exercises(len(KINDS), 4)
    write_sheet(tmp_path / "sheet.html", made)
    context = browser.new_context(offline=True)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto((tmp_path / "sheet.html").as_uri())
    yield page, made
    assert errors == []
    context.close()


def test_the_page_computes_what_regard_computes(sheet: Any) -> None:
    page, made = sheet
    for one in made:
        found = page.evaluate("given => solve(given)", one["given"])
        right = {step: value.tolist() for step, value in claimed_steps(one["given"]).items()}
        assert found.keys() == right.keys() == set(one["steps"])
        for step, value in right.items():
            for row, own in zip(value, found[step], strict=True):
                assert own == pytest.approx(row, abs=1e-12), (one["number"], step)


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
    beside = write_sheet(tmp_path / "sheet.html", made)
    context = browser.new_context(offline=True)
    page = context.new_page()
    page.goto(beside.as_uri())
    text = page.locator("#sheet").inner_text()
    for weight in claimed_steps(made[0]["given"])["weights"].flat:
        assert f"{weight:.4f}" in text or str(round(float(weight))) in text
    assert page.locator("input").count() == 0
    context.close()
