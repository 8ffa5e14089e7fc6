"""Numbers on the command line."""

from __future__ import annotations

import click
import pytest

from regard.cli.shared.numbers import Real, Whole


@pytest.mark.parametrize(
    ("kind", "given", "said"),
    [
        (Whole(0), "x", "'x' is not a valid whole number."),
        (Whole(0), "-1", "-1 is not in the range x>=0."),
        (Real(0, 1), "x", "'x' is not a valid number."),
        (Real(0, 1), "2", "2.0 is not in the range 0<=x<=1."),
    ],
)
def test_what_is_none_is_refused_in_plain_words(
    kind: click.ParamType, given: str, said: str
) -> None:
    with pytest.raises(click.BadParameter) as refused:
        kind.convert(given, None, None)
    assert refused.value.message == said


def test_what_is_one_is_taken() -> None:
    assert Whole(0, 7).convert("7", None, None) == 7
    assert Real(0, 1).convert("0.5", None, None) == 0.5
