"""A recommendation on the terminal, at 80 columns."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from regard.views.terminal.history import print_looked_at, print_recommended


def test_the_strongest_items_with_their_rows() -> None:
    out = io.StringIO()
    console = Console(file=out, width=80)
    print_recommended(["Alien", "B\x1b[31m"], [0.75, 0.25], console)
    weights = np.array([0.1, 0.6, 0.3])
    labels = ["one", "t" * 70, "three"]
    print_looked_at(labels, [4, 5, 6], ["99", "100", "101"], weights, console, 2)
    lines = out.getvalue().splitlines()
    assert lines[0] == "   1   75.0 %  Alien"
    assert "\\x1b[31m" in lines[1]
    assert lines[2].startswith("  60.0      6  100  tttt")
    assert lines[2].rstrip().endswith("…  " + "█" * 18)
    assert lines[3].startswith("  30.0      7  101  three")
    assert lines[4] == "  10.0  on 1 other item (--json)"
    assert max(map(len, lines)) <= 80
