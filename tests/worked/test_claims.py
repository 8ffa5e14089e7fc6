"""Claims: how exact a number is meant, and claims that cannot be understood."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from regard.errors import ExampleError
from regard.worked.check import check
from regard.worked.claims import allowance
from regard.worked.example import Example
from tests.worked.examples import tutorial


@pytest.mark.parametrize(
    ("printed", "off"),
    [
        ("0.48", 0.005),
        ("0.40", 0.005),
        ("0.4", 0.05),
        ("0.5987", 0.00005),
        ("12.", 0.5),
        ("1e-3", 5e-4),
    ],
)
def test_a_number_may_be_off_by_half_of_its_last_printed_digit(printed: str, off: float) -> None:
    assert allowance(Decimal(printed)) == pytest.approx(off, abs=2e-9)


def test_a_whole_number_is_meant_exactly() -> None:
    assert allowance(2) < 1e-8


@given(st.integers(0, 5), st.floats(-9, 9))
def test_what_rounds_to_the_claim_is_right(places: int, true: float) -> None:
    claimed = Decimal(f"{true:.{places}f}") if places else Decimal(f"{true:.0f}.")
    assert abs(float(claimed) - true) <= allowance(claimed)


@pytest.mark.parametrize("key", ["scores[0][1]", "scores[0, 1]", " scores [0] [1] "])
def test_one_number_can_be_claimed(key: str) -> None:
    report = check(tutorial(claims={key: Decimal("0.7")}))
    assert [(w.step, w.index, w.claimed) for w in report.wrong] == [("scores", (0, 1), 0.7)]


@pytest.mark.parametrize(
    ("claims", "text"),
    [
        ({}, "nothing is claimed"),
        ({"score": 1}, "claims.score: no step is called 'score'; this mechanism has input, quer"),
        ({"score": 1}, "weighted_values, context; did you mean 'scores'?"),
        ({"scores[7]": [1]}, "scores has the shape 3 x 3, counted from 0"),
        ({"scores[0][0][0]": 1}, "scores has the shape 3 x 3, counted from 0"),
        ({"scores[0]": [1, 2]}, "scores[0] must be a list of 3 numbers, got a list of 2 numbers"),
        ({"scores[0]": 1}, "must be a list of 3 numbers, got one number"),
        ({"scores[0]": "x"}, "must be a list of 3 numbers, got 'x'"),
        ({"scores": [1, 2, 3]}, "claims.scores must be 3 x 3, got a list of 3 numbers"),
        ({"scores": [[1, 2, 3]]}, "claims.scores must be 3 x 3, got 1 x 3"),
        ({"scores": [[1, 2], [3]]}, "claims.scores must be 3 x 3, got rows of different lengths"),
        ({"scores[0][0]": [1]}, "must be one number, got a list of 1 number"),
        ({"scores[0][0]": []}, "must be one number, got a list of 0 numbers"),
        ({"scores[0][0]": "x"}, "claims.scores[0][0] must be a number, got 'x'"),
        ({"scores[0][0]": True}, "claims.scores[0][0] must be a number, got true"),
        ({"scores[0][0]": Decimal("nan")}, "must be finite, at most 1.8e+308, got NaN"),
        ({"scores[0][0]": 10**400}, "at most 1.8e+308, got a whole number of more than 20 digits"),
        ({"queries": [1, 2, 3]}, "must be 3 x 1, got a list of 3 numbers; a column of single num"),
        ({"queries": [1, 2, 3]}, "a column of single numbers is written [[0.8], [1.0], …]"),
        ({f"scores[{'9' * 5000}]": 1}, "a claim is a step's name or an indexed part of it"),
        (
            {"scores": [[1] * 3] * 3, "scores[0]": [1] * 3},
            "claims.scores[0] claims numbers that claims.scores claims too: drop one of them",
        ),
        (
            {"scores[0][1]": 1, "scores[0, 1]": 2},
            "claims.scores[0, 1] claims numbers that claims.scores[0][1] claims too",
        ),
        ({"scores[a]": 1}, "a claim is a step's name or an indexed part of it"),
    ],
)
def test_claims_that_cannot_be_understood(claims: dict[str, object], text: str) -> None:
    with pytest.raises(ExampleError) as error:
        check(tutorial(claims=claims))
    assert text in str(error.value)


@pytest.mark.parametrize(
    ("lines", "line", "text"),
    [
        ('"scores[0]" = [1, 2]\nscore = 3', 4, "claims.score: no step is called 'score'"),
        ('# scores = 1\n\n"scores[0]" = [1]', 5, "must be a list of 2 numbers, got a list of 1 n"),
        ("scores = [[1, 2], [3, 4]]\n'scores[1]' = [3, 4]", 4, "claims.scores[1] claims numbers"),
        ("positions = 'sinusoidal'", 3, "no step is called 'positions'"),
        ("", 2, "nothing is claimed: add a [claims] table"),
    ],
)
def test_a_wrong_claim_is_found_in_the_file(
    tmp_path: Path, lines: str, line: int, text: str
) -> None:
    file = tmp_path / "worked.toml"
    file.write_text(f"x = [[1, 0], [0, 1]]\n[claims]\n{lines}\n", encoding="utf-8")
    with pytest.raises(ExampleError) as error:
        check(Example.load(file))
    assert str(error.value).startswith(f"{str(file)!r}, line {line}: ")
    assert text in str(error.value)


def test_claims_need_no_header_and_may_be_missing(tmp_path: Path) -> None:
    file = tmp_path / "worked.toml"
    file.write_text('x = [[1]]\nclaims."scores[9]" = 1\n', encoding="utf-8")
    with pytest.raises(ExampleError, match=r"worked\.toml', line 2: claims\.scores\[9\]: "):
        check(Example.load(file))
    file.write_text("x = [[1]]\nclaims = { score = 1 }\n", encoding="utf-8")
    with pytest.raises(ExampleError, match=r"worked\.toml', line 2: claims\.score: "):
        check(Example.load(file))
    file.write_text("x = [[1]]\n", encoding="utf-8")
    with pytest.raises(ExampleError, match=r"worked\.toml': nothing is claimed"):
        check(Example.load(file))
