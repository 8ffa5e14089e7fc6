"""Labels on the terminal: what a line holds, and where it ends."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from regard.trace import Array
from regard.views.terminal.labels import print_label_map, print_labels


def printed(width: int, words: list[str], weights: Array | None) -> list[str]:
    console = Console(file=io.StringIO(), width=width, force_terminal=False)
    labels = ["DET" if i == 0 else "NOUN" for i in range(len(words))]
    print_labels(words, labels, [0.999, *[0.5] * (len(words) - 1)], weights, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_the_largest_weights_come_first() -> None:
    weights = np.array([[0.25, 0.75], [0.996, 0.004]])
    assert printed(80, ["the", "dog"], weights) == [
        "word  label    %  looks at, in hundredths",
        "the   DET    100  dog₇₅ the₂₅",
        "dog   NOUN    50  the₁₀₀",
    ]


def test_without_attention() -> None:
    assert printed(80, ["the", "d\x1bog"], None) == [
        "word     label    %",
        "the      DET    100",
        "d\\x1bog  NOUN    50",
    ]


def test_a_line_has_as_many_words_as_fit() -> None:
    words = [f"word{i}" for i in range(30)]
    lines = printed(60, words, np.full((30, 30), 1 / 30))
    assert len(lines) == 31
    assert all(len(line) <= 60 for line in lines)
    assert lines[1].endswith("word3₃ word4₃")


def test_a_map_of_an_image() -> None:
    console = Console(file=io.StringIO(), width=60, force_terminal=False)
    print_label_map(["sky", "sky", "sky", "tree", "sky", "sea"], 3, console)
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "· · ·",
        "a · b",
        "·  sky: 4 of 6 patches",
        "a  tree: 1 of 6 patches",
        "b  sea: 1 of 6 patches",
    ]
