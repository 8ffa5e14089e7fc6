"""Numbers on the command line."""

from __future__ import annotations

from typing import Any

import click
import pytest

from regard.cli.shared.numbers import Real, Whole

NUMBERS: dict[str, click.ParamType[Any]] = {
    "whole": Whole(0, 7),
    "real": Real(0, 1),
    "any real": Real(0),
}


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        ("whole", "x", "'x' is not a valid whole number."),
        ("whole", "-1", "-1 is not in the range 0<=x<=7."),
        ("real", "x", "'x' is not a valid number."),
        ("real", "2", "2.0 is not in the range 0<=x<=1."),
        ("any real", "inf", "'inf' is not a number with an end."),
        ("any real", "nan", "'nan' is not a number with an end."),
    ],
)
def test_what_is_none_is_refused_in_plain_words(kind: str, given: str, said: str) -> None:
    with pytest.raises(click.BadParameter) as refused:
        NUMBERS[kind].convert(given, None, None)
    assert refused.value.message == said


def test_what_is_one_is_taken() -> None:
    assert NUMBERS["whole"].convert("7", None, None) == 7
    assert NUMBERS["real"].convert("0.5", None, None) == 0.5
