"""Worked examples as TOML files: what is read, and what is refused with which words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from regard.errors import ExampleError, FileError
from regard.worked.example import Example, compute

GOOD = "x = [[1, 0], [0, 1], [1, 1]]\n"
MATRICES = "w_q = [[1, 0], [0, 1]]\nw_k = [[1, 0], [0, 1]]\nw_v = [[1, 0], [0, 1]]\n"
SQUARE = "x = [[1, 0], [0, 1]]\n" + MATRICES
BIG = "9" * 400


def load(tmp_path: Path, text: str) -> Example:
    file = tmp_path / "worked.toml"
    file.write_text(text, encoding="utf-8")
    return Example.load(file)


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


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("x = [[1, 2], [3]]", 1, "x is ragged: row 1 has 2 numbers, row 2 has 1"),
        ("x = [[1], [3, 4]]", 1, "x is ragged: row 1 has 1 number, row 2 has 2"),
        ("x = [[1, nan]]", 1, "x[0][1] must be finite, at most 1.8e+308, got NaN"),
        ("x = [[1, inf]]", 1, "x[0][1] must be finite, at most 1.8e+308, got Infinity"),
        (f"x = [[1, {BIG}]]", 1, "x[0][1] must be finite, at most 1.8e+308, got a whole number of"),
        ("x = [[1, 1e400]]", 1, "x[0][1] must be finite, at most 1.8e+308, got 1E+400"),
        (f"x = [[1, 0x{'f' * 5000}]]", 1, "got a whole number of more than 20 digits"),
        ('x = [[1, "a"]]', 1, "x[0][1] must be a number, got 'a'"),
        ("x = [[1, true]]", 1, "x[0][1] must be a number, got true"),
        ("x = [[1, [2]]]", 1, "x[0][1] must be a number, got a list"),
        ("x = []", 1, "x must be a list of rows of numbers"),
        ("x = [1, 2]", 1, "x must be a list of rows of numbers"),
        ("\n\nx = [1, 2]", 3, "x must be a list of rows of numbers"),
        (GOOD + "mechanizm = 'simple'", 2, "unknown key 'mechanizm'; did you mean 'mechanism'?"),
        (GOOD + "zzz = 1", 2, "unknown key 'zzz'; known: title, mechanism, tokens, x, w_q"),
        (GOOD + "[claim]\nscores = 1", 2, "unknown key 'claim'; did you mean 'claims'?"),
        (GOOD + "mechanism = 'sclaed'", 2, "got 'sclaed'; did you mean 'scaled'?"),
        (GOOD + "layout = 'rows'", 2, "layout must be one of columns-are-outputs"),
        (GOOD + "layout = ''", 2, "layout must be one of columns-are-outputs"),
        (GOOD + "title = 1", 2, 'title must be a text in quotes, got 1; write title = "…"'),
        (GOOD + "tokens = ['a']", 2, "a token for each row of x: 3 rows, 1 token"),
        (GOOD + "tokens = [1, 2, 3]", 2, "tokens must be a list of texts"),
        (GOOD + "heads = 2", 2, 'heads = 2 needs mechanism = "multihead"'),
        (GOOD + "heads = 0", 2, "heads must be a whole number of 1 or more, got 0"),
        (GOOD + "d_k = 0", 2, "d_k must be a number above 0, got 0"),
        (GOOD + "d_k = 1e-400", 2, "d_k must be a number above 0, got 1E-400"),
        (GOOD + "d_k = nan", 2, "d_k must be finite, at most 1.8e+308, got NaN"),
        (GOOD + "d_k = inf", 2, "d_k must be finite, at most 1.8e+308, got Infinity"),
        (GOOD + f"d_k = {BIG}", 2, "d_k must be finite, at most 1.8e+308, got a whole number"),
        (GOOD + "d_k = '2'", 2, "d_k must be a number, got '2'"),
        (GOOD + "tolerance = nan", 2, "tolerance must be finite, at most 1.8e+308, got NaN"),
        (GOOD + "tolerance = inf", 2, "tolerance must be finite, at most 1.8e+308, got Infinity"),
        (GOOD + "d_k = 2", 2, "mechanism 'simple' is not scaled: drop d_k, or use"),
        (
            GOOD + MATRICES + "mechanism = 'dot'\nd_k = 2",
            6,
            "mechanism 'dot' is not scaled: drop d_k, or use mechanism = \"scaled\"",
        ),
        (GOOD + "mask = 'casual'", 2, "and false, got 'casual'; did you mean 'causal'?"),
        (GOOD + "mask = [[true]]", 2, "mask must be 3 x 3, a row for each query, got 1 x 1"),
        (
            GOOD + "mask = [[true], []]",
            2,
            "mask must be 3 x 3, a row for each query, got 2 x (0 or",
        ),
        (GOOD + "mask = [[1, 0, 1]]", 2, "rows of true (may attend) and false"),
        (GOOD + "mechanism = 'scaled'", 2, "needs w_q, w_k and w_v; w_q is missing"),
        (GOOD + "mechanism = 'simple'\n" + MATRICES, 2, "simple self-attention has no weight"),
        (
            GOOD + MATRICES.replace("w_k = [[1, 0], [0, 1]]", "w_k = [[1, 0, 0]]"),
            3,
            "with layout 'columns-are-outputs', w_k must have 2 rows (the width of x), got 1 x 3",
        ),
        (
            GOOD + MATRICES.replace("w_k = [[1, 0], [0, 1]]", "w_k = [[1], [0]]"),
            3,
            "queries and keys must be of one width, for their dot product: with layout "
            "'columns-are-outputs', w_q gives 2 numbers and w_k gives 1",
        ),
        (
            GOOD + MATRICES + "w_o = [[1, 0, 0]]",
            5,
            "with layout 'columns-are-outputs', w_o must have 2 rows (the outputs of w_v), "
            "got 1 x 3",
        ),
        (
            GOOD + MATRICES + "w_o = [[1]]\nlayout = 'rows-are-outputs'",
            5,
            "with layout 'rows-are-outputs', w_o must have 2 columns (the outputs of w_v), "
            "got 1 x 1",
        ),
        (
            GOOD + MATRICES + "mechanism = 'multihead'\nheads = 3",
            6,
            "heads must divide the outputs of w_q: 2 cannot be cut into 3 equal parts",
        ),
        (
            SQUARE + "layout = 'row-per-word'\nmechanism = 'multihead'\nheads = 2",
            7,
            "with layout 'row-per-word' a query is one number, which cannot be cut into 2 heads: "
            "drop heads, or use another layout",
        ),
        (
            SQUARE + "layout = 'row-per-word'\nw_o = [[1]]",
            6,
            "with layout 'row-per-word' each word has one number, which w_o cannot mix: drop w_o",
        ),
        (GOOD + "claims = 3", 2, "claims must be a table"),
        ("mechanism = 'simple'", None, "x is missing"),
    ],
)
def test_refusals_name_the_file_the_line_and_the_rule(
    tmp_path: Path, text: str, line: int | None, words: str
) -> None:
    with pytest.raises(ExampleError) as error:
        load(tmp_path, text)
    assert words in str(error.value)
    assert "worked.toml" in str(error.value)
    if line is not None:
        assert f", line {line}: " in str(error.value)


def test_broken_toml_says_where(tmp_path: Path) -> None:
    with pytest.raises(ExampleError, match=r"not valid TOML: .*line 2, column 5"):
        load(tmp_path, "title = 1\nx = ]")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (f"x = [[{'9' * 5000}]]", "has a number that is too long to be read"),
        ("x = [[1e99999999999999999999]]", "has a number that is too long to be read"),
        ("x = " + "[" * 5000, "has lists nested too deeply"),
    ],
)
def test_what_the_toml_reader_cannot_bear(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(ExampleError, match=rf"worked\.toml' {words}"):
        load(tmp_path, text)


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
    with pytest.raises(ExampleError, match="mechanism 'scaled' needs w_q, w_k and w_v"):
        Example("scaled", ["a"], np.eye(1))


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"cannot read '.*nowhere\.toml': No such file"):
        Example.load(tmp_path / "nowhere.toml")
    (tmp_path / "latin.toml").write_bytes("title = 'é'".encode("latin-1"))
    with pytest.raises(FileError, match=r"is not UTF-8 text \(byte 9\)"):
        Example.load(tmp_path / "latin.toml")
