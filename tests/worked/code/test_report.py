"""The report on code, as it is printed."""

from __future__ import annotations

import io

from rich.console import Console

import regard
from regard.worked.code.report import format_code_report
from tests.worked.code import right, wrong_numpy


def printed(function: object) -> str:
    out = io.StringIO()
    console = Console(file=out, width=80)
    console.print(format_code_report(regard.check(function, mechanism="scaled")))  # type: ignore[call-overload]
    return out.getvalue()


def test_a_wrong_one() -> None:
    text = printed(wrong_numpy.not_scaled)
    assert text.startswith("not_scaled: scaled, in NumPy\n")
    assert "✗ Its numbers are what you get if the scores are not divided by sqrt(d_k)." in text
    assert 'mechanism = "scaled"' in text
    assert "[claims]  # what your code gives" in text
    assert "weights[0][0]" in text
    assert text.rstrip().endswith("20 of 23 cases are wrong.")
    assert max(map(len, text.splitlines())) <= 80


def test_a_right_one() -> None:
    text = printed(right.fused)
    assert "✗" not in text
    assert text.rstrip().endswith("All 26 cases are right.")
