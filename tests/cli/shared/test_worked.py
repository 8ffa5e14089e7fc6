"""Worked examples on the command line: claims become marks."""

from __future__ import annotations

from pathlib import Path

import pytest

from regard.cli.shared.worked import check_claims, compared, print_whole
from regard.worked.example import Example
from regard.worked.stages import compute
from tests.worked.cases import Variant, called, generated, variants
from tests.worked.written import GOOD, load


def test_claims_become_marks(tmp_path: Path) -> None:
    example = load(tmp_path, GOOD + "[claims]\nscores = [[1, 0, 1], [0, 1, 1], [1, 1, 3]]")
    (marks,) = compared(check_claims(example)).values()
    assert list(marks.wrong) == [(2, 2)]
    assert marks.wrong[2, 2].startswith("q_3 · k_3 = 1·1 + 1·1 = 2")
    assert check_claims(load(tmp_path, GOOD)) is None
    assert compared(None) == {}


@pytest.mark.parametrize("variant", variants(), ids=called)
def test_every_mechanism_can_be_shown(variant: Variant, capsys: pytest.CaptureFixture[str]) -> None:
    example: Example = generated(variant, 0)
    trace = compute(example)
    print_whole(example, trace, None)
    shown = capsys.readouterr().out
    assert all(step.path in shown for step in trace)
    assert max(map(len, shown.splitlines())) <= 80
