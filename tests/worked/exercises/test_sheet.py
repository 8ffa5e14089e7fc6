"""A sheet: different exercises, no solutions in the page, and a page that checks as regard does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from regard.errors import RegardError
from regard.views.page.exercises import exercises_page
from regard.worked.check import check_file
from regard.worked.dialects import DIALECTS
from regard.worked.exercises.new import claimed_steps
from regard.worked.exercises.sheet import KINDS, TITLES, exercises, read_sheet


def write_sheet(path: Path, made: list[dict[str, Any]]) -> None:
    path.write_text(exercises_page(made, solutions=False), encoding="utf-8")


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
    assert {one["given"]["mechanism"] for one in exercises(2, 1, "lstm")} == {"lstm"}
    with pytest.raises(RegardError, match="a sheet has exercises of softmax, simple"):
        exercises(3, 1, "lstmm")


def test_every_mechanism_has_its_exercise() -> None:
    assert TITLES.keys() == DIALECTS.keys()
    assert [kind for kind in KINDS if kind[1]] == [("scaled", True)]


def test_answers_of_any_shape_are_read(tmp_path: Path) -> None:
    """Rows as they are typed; the claims have the step's own axes."""
    made = exercises(1, 2, "multihead")
    weights = claimed_steps(made[0]["given"])["weights"]
    assert weights.ndim == 3
    rows = [[f"{n:.4f}" for n in row] for row in weights.reshape(-1, weights.shape[-1])]
    page = exercises_page(made, solutions=False)
    path = tmp_path / "sheet.html"
    path.write_text(answers_in(page, {made[0]["number"]: {"weights": rows}}), encoding="utf-8")
    report = check_file(read_sheet(path)[0])
    assert (report.right, report.wrong) == (weights.size, [])


def test_the_first_file_holds_no_solutions(tmp_path: Path) -> None:
    made = exercises(4, 2, "scaled")
    write_sheet(tmp_path / "sheet.html", made)
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
