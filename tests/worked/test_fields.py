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
        (GOOD + "mechanism = 'sclaed'", 2, "got 'sclaed'; did you mean 'scaled'"),
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
        (GOOD + "mask = 'casual'", 2, "or {window = 1}, got 'casual'; did you mean 'causal'?"),
        (GOOD + "mask = [[true]]", 2, "mask must be 3 x 3, a row for each query, got 1 x 1"),
        (
            GOOD + "mask = [[true], []]",
            2,
            "mask must be 3 x 3, a row for each query, got 2 x (0 or",
        ),
        (GOOD + "mask = [[1, 0, 1]]", 2, "rows of true (may attend) and false"),
        (
            GOOD + "mechanism = 'scaled'",
            2,
            "needs w_q, w_k and, for the values, w_v; w_q is missing",
        ),
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
        (GOOD + "mask = {paddin = 1}", 2, "rule of the mask 'paddin'; did you mean 'padding'?"),
        (GOOD + "mask = {padding = 4}", 2, "a whole number from 0 to 3, got 4"),
        (GOOD + "mask = {window = -1}", 2, "a whole number or [back, ahead], got -1"),
        (GOOD + "mask = {causal = false}", 2, "mask.causal must be true or left out, got false"),
        (GOOD + MATRICES + "b_q = [1]", 5, "b_q must have a number for each output of w_q: 2,"),
        (GOOD + "b_q = [1]", 2, "mechanism 'simple' has no b_q; it takes x, values, scores"),
        (GOOD + MATRICES + "b_o = [1]", 5, "b_o is added to what w_o gives, which is missing"),
        (GOOD + MATRICES + "d_k = 2\nscale = 1", 6, "give d_k or scale, not both"),
        (GOOD + "scale = 2", 2, "scale is what scores are multiplied by, but mechanism 'simple'"),
        (GOOD + MATRICES + "queries = [[1, 0]]", 5, "queries is given and follows from w_q too"),
        ("scores = [[1, 2]]\nmechanism = 'scaled'", None, "d_k is missing: scores are divided by"),
        ("queries = [[1, 2]]", None, "x is missing: a list of rows of numbers (or keys, or scores"),
        (
            "queries = [[1, 2]]\nkeys = [[1]]",
            2,
            "keys must have 2 along the axis 'key width', as queries has, got 1 x 1",
        ),
        (
            "scores = [[1, 2]]\nvalues = [[1], [2], [3]]",
            1,
            "scores must have 3 along the axis 'key', as values has, got 1 x 2",
        ),
        (
            "mechanism = 'multihead'\nheads = 2\nqueries = [[[1]], [[2]], [[3]]]\n"
            "keys = [[[1]], [[2]]]",
            3,
            "queries must have a matrix for each of 2 heads, got 3",
        ),
        (
            "mechanism = 'multihead'\nheads = 2\nqueries = [[[1]], [[2, 3]]]",
            3,
            "queries is ragged: queries[0] has the shape 1 x 1, queries[1] has 1 x 2",
        ),
        (
            GOOD + MATRICES + "mechanism = 'multihead'\nheads = 2\nkey_heads = 3",
            7,
            "query heads must be a multiple of key heads, got heads = 2 and key_heads = 3",
        ),
        ("scores = [[1]]\npositions = 'sinusoidal'", 2, "positions are added to x, which is mis"),
        (
            "queries = [[1]]\nkeys = [[1]]\nvalues = [[1, 2]]\nw_o = [[1]]",
            4,
            "with layout 'columns-are-outputs', w_o must have 2 rows (the values), got 1 x 1",
        ),
        ("mechanism = 'additive'\ns = [[1]]\nh = [[1]]", 1, "needs w_a and u_a and v_a; w_a is"),
        ("mechanism = 'cross'\nx = [[1]]\nw_q = [[1]]", None, "memory is missing: a list of rows"),
        (
            "s = [[1, 2]]\nh = [[1]]\nw_a = [[1], [2], [3]]",
            3,
            "w_a must have 2 along the axis 'width', as s has, got 3 x 1",
        ),
        (
            "scores = [[1, 2]]\nvalues = [[1], [2]]\ntokens = ['a']",
            3,
            "there must be a token for each key: 2 keys, 1 token",
        ),
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
