"""Mistakes of understanding, which no single number shows."""

from __future__ import annotations

from regard.worked.check import check
from regard.worked.example import Example
from tests.worked.examples import tutorial


def test_the_printed_tutorial_is_told_its_misunderstandings() -> None:
    reading, width, sums = check(tutorial()).remarks
    assert "not self-attention" in reading
    assert "one 3 x 4 map" in reading
    assert "q_1 = [0.8, 0.6, 0.5]" in reading
    assert "d_k = 3" in reading
    assert width.startswith("d_k = 4 is not the width of a key: a key has 1 number here")
    assert sums.startswith("weights[0] sum to 1.7773, not 1")


def test_a_layout_that_nobody_named_is_remarked_where_another_fits() -> None:
    content = {"x": [[1, 2], [3, 4]], "claims": {"scores[0][0]": 1}}
    content |= {key: [[1, 2], [0, 1]] for key in ("w_q", "w_k", "w_v")}
    assert check(Example.from_dict(content)).remarks == [
        "The matrices fit two layouts and the file names none: read as columns-are-outputs "
        '(Q = X W); if your rows are outputs, as in PyTorch, add layout = "rows-are-outputs".'
    ]
    named = {**content, "layout": "columns-are-outputs"}
    assert check(Example.from_dict(named)).remarks == []
    only_one_fits = {**content, "w_v": [[1], [0]]}
    assert check(Example.from_dict(only_one_fits)).remarks == []
    symmetric = {**content, **{key: [[1, 2], [2, 1]] for key in ("w_q", "w_k", "w_v")}}
    assert check(Example.from_dict(symmetric)).remarks == [], "both readings give the same"


def test_unscaled_attention_is_remarked() -> None:
    example = tutorial(
        mechanism="dot", layout="rows-are-outputs", d_k=None, claims={"scores[0][0]": 1}
    )
    assert any("not divided by sqrt(d_k)" in remark for remark in check(example).remarks)


def test_a_layout_of_a_network_that_nobody_named() -> None:
    one_way = {"mechanism": "simple-rnn", "x": [[1]], "a": [[1, 2]], "claims": {"states": [[1]]}}
    assert check(one_way).remarks == []
    either = {"mechanism": "feed-forward", "x": [[1, 2]], "w_1": [[1, 2], [3, 4]],
              "w_2": [[1, 0], [0, 1]], "claims": {"output": [[5, 11]]}}  # fmt: skip
    report = check(either)
    assert report.ok
    assert report.remarks[0].startswith("The matrices fit two layouts and the file names none: ")
    assert "read as rows-are-outputs (W x, as in the papers)" in report.remarks[0]


def test_weights_of_a_step_sum_to_one() -> None:
    content = {"mechanism": "lstmn", "x": [[1], [1]], "v": [1],
               **{key: [[1]] for key in ("w_h", "w_x", "w_tilde")},
               **{f"w_{gate}": [[1, 1]] for gate in "ifoc"},
               "claims": {"step 2/weights": [0.5]}}  # fmt: skip
    (remark,) = check(content).remarks
    assert remark.startswith("step 2/weights sum to 0.5000, not 1")
