"""The gradient of softmax in a worked example, by hand."""

from __future__ import annotations

from pathlib import Path

from regard.worked.check import check
from tests.worked.written import load

TEXT = """
mechanism = "softmax-gradient"
scores = [[0, 0]]
upstream = [[1, 0]]
[claims]
weights = [[0.5, 0.5]]
jacobian = [[[0.25, -0.25], [-0.25, 0.25]]]
score_gradient = [[0.25, -0.25]]
"""


def test_two_equal_scores(tmp_path: Path) -> None:
    assert check(load(tmp_path, TEXT)).ok


def test_a_forgotten_minus_sign(tmp_path: Path) -> None:
    text = TEXT.replace("scores = [[0, 0]]", "scores = [[1, 0]]").split("[claims]")[0]
    claim = "[claims]\njacobian = [[[0.1966, 0.1966], [0.1966, 0.1966]]]"
    wrong = check(load(tmp_path, text + claim)).wrong
    assert [w.index for w in wrong] == [(0, 0, 1), (0, 1, 0)]
    assert {w.slip for w in wrong} == {"the minus sign of -a_j a_k is forgotten"}
