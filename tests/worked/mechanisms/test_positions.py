"""Positions: a table with x or without, and what is refused."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from regard.errors import ExampleError
from regard.worked.check import check
from regard.worked.stages import compute
from tests.worked.cases import generated
from tests.worked.written import load

TABLE = 'mechanism = "sinusoidal"\nlength = 2\nwidth = 4\n'


def test_a_table_without_vectors_by_hand(tmp_path: Path) -> None:
    trace = compute(load(tmp_path, TABLE))
    second = [math.sin(1), math.cos(1), math.sin(0.01), math.cos(0.01)]
    np.testing.assert_array_equal(trace.value("positions")[0], [0, 1, 0, 1])
    np.testing.assert_allclose(trace.value("positions")[1], second, rtol=1e-12)
    assert [step.name for step in trace] == ["positions"]
    text = (
        TABLE + f'[claims]\n"positions[1]" = [{math.cos(1):.4f}, {math.sin(1):.4f}, 1.0000, 0.0100]'
    )
    assert {w.slip for w in check(load(tmp_path, text)).wrong} == {"sine and cosine are swapped"}


def test_they_are_added_to_x(tmp_path: Path) -> None:
    trace = compute(load(tmp_path, 'mechanism = "sinusoidal"\nfirst = 1\nx = [[1, 1]]'))
    np.testing.assert_allclose(trace.value("input"), [[1 + math.sin(1), 1 + math.cos(1)]])
    example = generated(("learned", {}), 0)
    sums = example.given["x"] + example.given["table"][:3]
    np.testing.assert_array_equal(compute(example).value("input"), sums)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('mechanism = "sinusoidal"\nlength = 2', "needs x, or length and width"),
        ('mechanism = "sinusoidal"\nx = [[1]]\nwidth = 1', "x says how many positions there are"),
        ('mechanism = "learned"\nx = [[1], [2]]\ntable = [[1]]', "a row for each place: 2, got 1"),
        ('mechanism = "sinusoidal"\nlength = 0\nwidth = 2', "whole number of 1 or more, got 0"),
    ],
)
def test_refusals(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ExampleError, match=words):
        load(tmp_path, text)
