"""Worked examples as TOML files: what is read, and what is refused with which words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.errors import ExampleError
from regard.worked.example import Example
from regard.worked.stages import compute
from tests.worked.written import GOOD, MATRICES, load


def test_the_least_that_is_needed_is_x(tmp_path: Path) -> None:
    example = load(tmp_path, GOOD)
    assert example.mechanism == "simple"
    assert example.tokens == ["x1", "x2", "x3"]
    trace = compute(example)
    np.testing.assert_array_equal(trace.value("scores"), example.x @ example.x.T)
    assert "scaled" not in trace


def test_matrices_make_it_scaled(tmp_path: Path) -> None:
    trace = compute(load(tmp_path, GOOD + MATRICES))
    np.testing.assert_allclose(trace.value("scaled"), trace.value("scores") / np.sqrt(2))


def test_the_layout_is_found_from_the_shapes(tmp_path: Path) -> None:
    wide = "w_q = [[1, 0]]\nw_k = [[0, 1]]\nw_v = [[1, 1]]\n"
    example = load(tmp_path, GOOD + wide)
    assert example.layout == "rows-are-outputs"
    assert compute(example).value("queries").shape == (3, 1)


def test_positions_are_added_and_shown(tmp_path: Path) -> None:
    trace = compute(load(tmp_path, GOOD + 'positions = "sinusoidal"\n'))
    assert [s.name for s in trace][:3] == ["embedding", "positions", "input"]
    np.testing.assert_allclose(
        trace.value("embedding") + trace.value("positions"), trace.value("input")
    )


def test_a_mask_matrix_and_a_fully_masked_word(tmp_path: Path) -> None:
    mask = "mask = [[true, false, true], [false, false, false], [true, true, true]]\n"
    weights = compute(load(tmp_path, GOOD + mask)).value("weights")
    assert weights[0, 1] == 0
    np.testing.assert_array_equal(weights[1], 0)
    np.testing.assert_allclose(weights.sum(-1), [1, 0, 1])


def test_numbers_too_large_to_compute_with(tmp_path: Path) -> None:
    example = load(tmp_path, "x = [[1e200]]")
    with pytest.raises(ExampleError, match=r"worked\.toml': the numbers are too large to compute "
                       r"with: scores would exceed 1\.8e\+308"):  # fmt: skip
        compute(example)


def test_the_formulas_say_how_the_matrices_are_read(tmp_path: Path) -> None:
    rows = compute(load(tmp_path, GOOD + MATRICES + "layout = 'rows-are-outputs'"))
    assert [rows[s].formula for s in ("queries", "keys", "values")] == [
        *("Q = X W_Qᵀ", "K = X W_Kᵀ", "V = X W_Vᵀ"),
    ]
    assert compute(load(tmp_path, GOOD + MATRICES))["queries"].formula == "Q = X W_Q"
    simple = compute(load(tmp_path, GOOD + "layout = 'rows-are-outputs'"))
    assert simple["queries"].formula == "Q = X"


def test_the_layout_is_found_from_all_matrices(tmp_path: Path) -> None:
    narrow = MATRICES.replace("w_v = [[1, 0], [0, 1]]", "w_v = [[1, 0]]")
    example = load(tmp_path, GOOD + narrow)
    assert example.layout == "rows-are-outputs"
    assert not example.layout_given


def test_an_example_made_by_hand_is_checked_too() -> None:
    with pytest.raises(
        ExampleError, match="mechanism 'scaled' needs w_q, w_k and, for the values, w_v"
    ):
        Example("scaled", ["a"], {"x": np.eye(1)})
