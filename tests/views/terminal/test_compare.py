"""Two sentences side by side."""

from __future__ import annotations

import io

import numpy as np
import pytest
from rich.cells import cell_len

from regard.views.terminal.compare import Side, print_comparison
from regard.views.terminal.console import make_console


def side(tokens: str, weights: list[float]) -> Side:
    return Side(tokens.split(), 1, np.log(np.array(weights)), np.array(weights))


def shown(first: Side, second: Side) -> str:
    file = io.StringIO()
    print_comparison(first, second, make_console(file))
    return file.getvalue()


def test_the_table() -> None:
    text = shown(
        side("the cat sat", [0.5, 0.25, 0.25]), side("the dog sat down", [0.5, 0.3, 0.1, 0.1])
    )
    rows = [line.split() for line in text.splitlines()[1:]]
    assert rows == [
        ["the", "-0.69", "0.500", "██████", "the", "-0.69", "0.500", "██████", "0"],
        ["cat", "-1.39", "0.250", "███", "dog", "-1.20", "0.300", "███▋", "+0.050"],
        ["sat", "-1.39", "0.250", "███", "sat", "-2.30", "0.100", "█▎", "-0.150"],
        ["down", "-2.30", "0.100", "█▎"],
    ]


@pytest.mark.parametrize("columns", [44, 50, 64, 80, 200])
def test_lines_fit(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    first = side("猫猫猫 extraordinarily\x1b[31m b", [0.9, 0.05, 0.05])
    text = shown(first, side("猫 extraordinarily c d", [0.1, 0.3, 0.3, 0.3]))
    assert max(map(cell_len, text.splitlines())) <= columns
    assert "\x1b" not in text
    assert "0.900" in text


def test_a_long_text_shows_its_strongest_tokens() -> None:
    tokens = " ".join(f"w{i}" for i in range(100))
    weights = [0.005] * 99 + [0.505]
    text = shown(side(tokens, weights), side(tokens, weights))
    assert len(text.splitlines()) == 1 + 24 + 1
    assert "w99" in text
    assert "and 76 more, each with less weight in both" in text
