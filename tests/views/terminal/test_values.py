"""Values: every step with its numbers, and a wrong claim below the row that it is of."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from regard.trace import Step, Trace
from regard.views.compared import Compared
from regard.views.terminal.values import print_values

STEPS = [
    Step("weights", np.array([[0.25, 0.75]]), axes=("query", "key"), formula="softmax"),
    Step("state", np.arange(40.0), axes=("hidden",), scope="step 2"),
]


def shown(width: int = 60, **options: object) -> list[str]:
    console = Console(file=io.StringIO(), width=width)
    print_values(Trace(STEPS, tokens=["ab", "c"]), console, **options)  # type: ignore[arg-type]
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_claim_stands_below_its_row() -> None:
    claims = {"weights": Compared(np.array([[0.5, np.nan]]), {(0, 0): "it is a quarter"})}
    assert shown(claims=claims)[:5] == [
        "1  weights   softmax",
        "       ab     c",
        "   ab [0.2500 0.7500]",
        "      [0.5000      ·]  claimed",
        "      ✗ it is a quarter",
    ]


def test_long_rows_are_cut_but_what_is_wrong_is_seen() -> None:
    claim = Compared(np.arange(40.0), {(33,): ""})
    lines = shown(claims={"step 2/state": claim}, only=["step 2/state"])
    assert lines[0] == "1  step 2/state"
    assert max(map(len, lines)) <= 80
    assert "33.00 … 40 in all]" in lines[1]
