"""Heads that align words with time, at 80 columns."""

from __future__ import annotations

import io

from rich.console import Console

from regard.pieces.heads import HeadPlace
from regard.views.terminal.timing import print_timings
from tests.pieces.test_timing import timings


def printed(named: list[HeadPlace], shown: int = 10) -> str:
    out = io.StringIO()
    print_timings(timings(named), Console(file=out, width=80), shown)
    assert max(map(len, out.getvalue().splitlines())) <= 80
    return " ".join(out.getvalue().split())


def test_the_ranking_and_the_named_heads() -> None:
    said = printed([(0, 0)])
    assert "w: 0.64 s in 32 pieces and 18 of padding, 2 tokens of text, 4 heads" in said
    assert "L0H1 0.750 1.000 0.750 1.000" in said
    assert "L0H0 0.250 0.500 0.500 1.000 ████ alignment head" in said
    assert "of 4 heads: L0H0 rank 2. They are ahead of the others in 67% of the pairs" in said


def test_no_named_heads_and_fewer_lines() -> None:
    said = printed([], 1)
    assert "generation_config.json names no alignment_heads of this model." in said
    assert "L0H0" not in said
