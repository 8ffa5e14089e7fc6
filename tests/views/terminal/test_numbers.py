"""Numbers, bars and safe text for the terminal."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from regard.views.terminal.numbers import bar, colour, decimals, number, vector


@pytest.mark.parametrize(
    ("most", "places"), [(0.8, 4), (2.0, 3), (12.0, 2), (5000.0, 2), (0.0099, 6), (0.0, 4)]
)
def test_about_four_digits_of_the_largest(most: float, places: int) -> None:
    assert decimals(np.array([most / 7, -most])) == places


def test_a_rounded_zero_has_no_sign_and_infinity_has_a_name() -> None:
    assert number(-0.00004, 4) == "0.0000"
    assert number(-0.00006, 4) == "-0.0001"
    assert [number(x, 2) for x in (float("-inf"), float("inf"), float("nan"))] == [
        "-inf",
        "inf",
        "nan",
    ]


def test_a_vector_that_fits_is_whole() -> None:
    assert vector(np.array([1.0, -0.25]), 40) == "[ 1.000 -0.250]"


@given(st.integers(1, 300), st.integers(24, 200))
def test_a_vector_keeps_to_its_width_and_says_how_long_it_is(n: int, width: int) -> None:
    text = vector(np.linspace(-1, 1, n), width)
    assert len(text) <= width
    if "…" in text:
        assert text.endswith(f"… {n} in all]")
    else:
        assert len(text[1:-1].split()) == n


@given(st.floats(0, 1), st.integers(1, 60))
def test_a_bar_is_as_long_as_its_share(share: float, width: int) -> None:
    text = bar(share, width).plain
    assert abs(cell_len(text) - share * width) <= 1
    assert len(text) <= width


def test_colours_run_from_blue_to_yellow() -> None:
    assert colour(1) == (253, 231, 37)
    assert colour(0)[2] > colour(0)[0]
    assert colour(-1) == colour(0)
    assert colour(2) == colour(1)
