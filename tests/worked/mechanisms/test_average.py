"""The average of word vectors in a worked example."""

from __future__ import annotations

from pathlib import Path

from regard.worked.check import check
from tests.worked.written import load

TEXT = 'mechanism = "average"\nx = [[1.25, 0.5, 3], [2.5, 1, 4]]\n[claims]\n'


def test_the_mean_and_a_sum_that_is_not_divided(tmp_path: Path) -> None:
    assert check(load(tmp_path, TEXT + "average = [1.875, 0.75, 3.5]")).ok
    wrong = check(load(tmp_path, TEXT + "average = [3.750, 1.500, 7.000]")).wrong
    assert {w.slip for w in wrong} == {"the sum is not divided"}
