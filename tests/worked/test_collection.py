"""The worked examples that come with regard: each says where it is from, and how right it is."""

from __future__ import annotations

import pytest

from regard.worked.check import check
from regard.worked.source import shipped

WRONG = {
    "illustrated-self-attention-printed": 4,
    "simple-self-attention-normalised": 6,
    "tutorial-printed": 9,
}
"""How many numbers are wrong as they are printed."""


@pytest.mark.parametrize("name", shipped())
def test_an_example(name: str) -> None:
    report = check(name)
    assert len(report.wrong) == WRONG.get(name, 0)
    assert report.right > 3
    assert report.example.title
    text = shipped()[name].read_text(encoding="utf-8")
    assert text.startswith("# ")
    assert max(map(len, text.splitlines())) <= 104


def test_slips_of_printed_numbers_are_named() -> None:
    slips = {wrong.slip for wrong in check("simple-self-attention-normalised").wrong}
    assert slips == {"scores are divided by their sum without exponentials"}
    first = check("illustrated-self-attention-printed").wrong[0]
    assert first.slip == "0.06338 is rounded too far"
