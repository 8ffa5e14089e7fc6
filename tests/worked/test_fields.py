"""Fields of a worked example that are refused, with the file, the line and the rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.errors import ExampleError
from tests.worked.written import GOOD, MATRICES, load

SQUARE = "x = [[1, 0], [0, 1]]\n" + MATRICES


BIG = "9" * 400


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
