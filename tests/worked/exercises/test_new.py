"""New exercises: every mechanism, numbers that a pencil can follow, blanks and solutions."""

from __future__ import annotations

import tomllib
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pytest

import regard
from regard.errors import RegardError
from regard.worked.check import check_file
from regard.worked.dialects import DIALECTS
from regard.worked.exercises.new import claimed_steps, new, text_of
from regard.worked.source import ExampleFile


def read(text: str) -> ExampleFile:
    return ExampleFile("mine", text, tomllib.loads(text, parse_float=Decimal))


@pytest.mark.parametrize("numbers", ["round", "small"])
@pytest.mark.parametrize("mechanism", DIALECTS)
def test_the_solution_of_every_mechanism_is_right(mechanism: str, numbers: str) -> None:
    text = text_of(new(mechanism, numbers=numbers, seed=5), "solution")
    report = check_file(read(text))
    assert report.ok, report.wrong
    assert report.right >= 2


def test_blanks_hold_no_solution_and_are_counted() -> None:
    content = new("scaled", ["bread", "and", "butter"])
    text = text_of(content, "blanks")
    report = check_file(read(text))
    assert (report.right, report.wrong) == (0, [])
    assert report.remarks == ["63 numbers left blank (?)."]
    right = claimed_steps(content)["queries"]
    filled = text.replace('["?", "?", "?", "?"]', str(right[0].tolist()), 1)
    assert check_file(read(filled)).right == 4


def test_a_template_lists_what_can_be_claimed() -> None:
    text = text_of(new("simple"))
    assert "# simple: self-attention without matrices" in text
    assert "# [claims]\n# scores = …  (3 x 3)\n# weights = …  (3 x 3)\n" in text
    assert "claims" not in tomllib.loads(text)


@pytest.mark.parametrize("mechanism", ["dot", "scaled", "multihead", "cross", "softmax"])
@pytest.mark.parametrize("seed", range(3))
def test_round_numbers_give_fractions(mechanism: str, seed: int) -> None:
    """Powers of two over their sum: to four digits, fractions with small denominators."""
    weights = claimed_steps(new(mechanism, seed=seed))["weights"]
    for weight in weights.flat:
        near = Fraction(float(weight)).limit_denominator(300)
        assert abs(float(near) - weight) < 2e-4
    assert np.allclose(weights.sum(-1), 1)


def test_small_numbers_are_whole() -> None:
    content = new("scaled", numbers="small")
    assert all(np.asarray(content[key]).dtype.kind == "i" for key in ("x", "w_q", "w_k", "w_v"))


def test_seeds_give_other_numbers_and_the_same_ones_again() -> None:
    assert new("scaled", seed=1) == new("scaled", seed=1)
    assert new("scaled", seed=1) != new("scaled", seed=2)


def test_bad_questions() -> None:
    with pytest.raises(RegardError, match="no mechanism is called 'scald'; did you mean 'scaled'"):
        new("scald")
    with pytest.raises(RegardError, match="two words or more, got 1"):
        new("scaled", ["alone"])


def test_a_mask_can_be_had() -> None:
    content = new("scaled", masked=True)
    result = regard.check({**content, "claims": {"weights[0]": [1, 0, 0]}})
    assert result.ok
