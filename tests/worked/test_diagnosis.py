"""Diagnosis: a slip is named where it made the number, and not where it only might have."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal

import numpy as np

from regard.worked.check import check
from regard.worked.example import Example
from tests.worked.slip_cases import wrongly_named


def test_a_wrong_number_is_put_down_to_nothing_by_chance() -> None:
    assert wrongly_named(100) <= 0.02


def test_two_digits_are_too_few_to_tell() -> None:
    given = {"scores": np.array([[1.0, 2.0]])}
    example = Example("scaled", ["a", "b"], given, d_k=4)
    few = replace(example, claims={"scaled[0][0]": Decimal("0.3")})  # 1/4 = 0.25: d_k, not its root
    assert [w.slip for w in check(few).wrong] == [""]
    more = replace(example, claims={"scaled": [[Decimal("0.2500"), Decimal("0.5000")]]})
    assert [w.slip for w in check(more).wrong] == [
        "the scores are divided by d_k = 4, not by its root"
    ] * 2


def test_a_number_rounded_too_far_is_reported_once() -> None:
    given = {"scaled": np.array([[2.7, 0.0]]), "values": np.array([[1.0], [9.0]])}
    claims = {"weights": [[Decimal("0.9"), Decimal("0.0")]], "context": [[Decimal("0.9")]]}
    first, later = check(Example("scaled", ["a", "b"], given, claims=claims)).wrong
    assert (first.index, first.slip) == ((0, 1), "0.06297 is rounded too far")
    assert (later.step, later.carried, later.slip) == ("context", True, "")


def test_what_is_made_of_rounded_numbers_says_so() -> None:
    given = {"scaled": np.array([[1.0, 0.0]]), "values": np.array([[1.0], [9.0]])}
    claims = {"weights": [[Decimal("0.7"), Decimal("0.3")]], "context": [[Decimal("3.400")]]}
    (wrong,) = check(Example("scaled", ["a", "b"], given, claims=claims)).wrong
    assert (wrong.step, wrong.carried) == ("context", True)
    assert wrong.slip == "it is made of the rounded numbers claimed before"


def test_a_whole_number_is_meant_exactly() -> None:
    given = {"scaled": np.array([[2.7, 0.0]])}
    wrong = check(Example("scaled", ["a", "b"], given, claims={"weights": [[1, 0]]})).wrong
    assert [w.slip for w in wrong] == ["0.937 is rounded too far", "0.06297 is rounded too far"]
