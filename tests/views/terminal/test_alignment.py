"""An alignment on the terminal: columns in blocks, weights in hundredths."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from regard.views.terminal.alignment import blocks, cell, copies_line, print_alignment, print_copies
from tests.views.terminal.consoles import console, printed


def test_a_row_for_each_target_word() -> None:
    to = console()
    weights = np.array([[0.9, 0.1, 0.0], [0.0, 0.25, 0.75]])
    print_alignment(["das", "ist", "gut\x1b"], ["is", "good"], weights, to)
    lines = [line.rstrip() for line in printed(to).splitlines()]
    assert lines[0].split() == ["das", "ist", "gut\\x1b"]
    assert lines[1].split() == ["is", "90█", "10", "·"]
    assert lines[2].split() == ["good", "·", "25░", "75▓▓▓▓"]


def test_the_strongest_is_bold() -> None:
    assert cell(0.6, 6, True).style.bold  # type: ignore[union-attr]
    assert not cell(0.6, 6, False).style.bold  # type: ignore[union-attr]
    assert cell(0.004, 5, False).plain == "  ·  "


@given(st.lists(st.integers(4, 14), min_size=1, max_size=40), st.integers(15, 80))
def test_blocks_fit_and_follow_each_other(widths: list[int], room: int) -> None:
    found = blocks(widths, room)
    assert [j for start, stop in found for j in range(start, stop)] == [*range(len(widths))]
    for start, stop in found:
        assert sum(width + 1 for width in widths[start:stop]) <= room


def test_what_was_copied_and_from_where() -> None:
    to = console()
    copies = np.array([[0.6, 0.0, 0.33], [0.0, 0.0, 0.0], [0.0, 0.03, 0.0]])
    print_copies(["Kalovi", "is", "Kalovi"], ["Kalovi", "sings", "is"], copies, to)
    lines = [line.rstrip() for line in printed(to).splitlines()]
    assert lines == [
        "word    copied  from",
        "Kalovi   93███  Kalovi#1, Kalovi#2",
        "sings     ·     the vocabulary",
        "is        3     the vocabulary",
    ]
    line = copies_line(["Kalovi", "sings"], copies[:2])
    assert line.startswith("Copied from the source: Kalovi 93 %, sings 0 %; the rest")
