"""The report that a reader gets."""

from __future__ import annotations

import io

from regard.views.terminal.console import make_console
from regard.worked.check import Wrong, check
from regard.worked.example import Example
from regard.worked.report import format_report, place
from tests.worked.examples import tutorial


def shown(example: Example) -> list[str]:
    file = io.StringIO()
    make_console(file).print(format_report(check(example)))
    return file.getvalue().splitlines()


def test_right_numbers_are_counted() -> None:
    lines = shown(Example.load("tutorial-corrected"))
    assert [line for line in lines if line.startswith("✗")] == []
    assert lines[-1] == "All 63 numbers are right."


def test_wrong_numbers_stand_with_what_they_should_be() -> None:
    lines = shown(tutorial())
    assert "✗ queries         1 of 3 wrong" in lines
    row = next(line for line in lines if line.strip().startswith("queries[2][0]"))
    assert row.split()[1:3] == ["0.6", "0.4"]
    assert "q_3: x_3 · row 3 of W_Q = 1·0.3 +" in row
    verdict = " ".join(lines[-3:])
    assert "9 of 19 numbers are wrong: 6 by themselves, 3 because of earlier ones" in verdict
    assert "It went wrong first at queries[2][0]: 0.6 should be 0.4." in verdict
    assert sum(line.startswith("! ") for line in lines) == 3


def test_where_a_number_stands() -> None:
    assert place(Wrong("scores", (0, 1), 1.0, 2.0, False)) == "scores[0][1]"
