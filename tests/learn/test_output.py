"""What counts as the same output."""

from __future__ import annotations

import pytest

from regard.learn.output import agrees


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a  b\n\nc\n", "a b\nc"),
        ("weight 0.640", "weight 0.641"),
        ("largest\ndifference 2.9e-06.", "largest\ndifference 3.4e-06."),
        ("first\n…\nlast", "first\n1\n2\nlast"),
        ("…\nb\n…", "a\nb\nc"),
        ("a\n…", "a"),
        ("", ""),
    ],
)
def test_the_same(shown: str, printed: str) -> None:
    assert agrees(shown, printed)


@pytest.mark.parametrize(
    ("shown", "printed"),
    [
        ("a", "a\nb"),
        ("a\nb", "a"),
        ("weight 0.640", "weight 0.642"),
        ("20 of 936", "21 of 936"),
        ("first\n…\nlast", "first\nlast\nmore"),
        ("first\n…\nlast", "other\nlast"),
        ("a\n…\na", "a"),
        ("x", ""),
    ],
)
def test_not_the_same(shown: str, printed: str) -> None:
    assert not agrees(shown, printed)


def test_where_numbers_vary_the_words_count() -> None:
    assert agrees("took 3.2 ms, 12 MB", "took 187 µs, 1.4 GB", varies=True)
    assert not agrees("took 3.2 ms", "gave 3.2 ms", varies=True)
