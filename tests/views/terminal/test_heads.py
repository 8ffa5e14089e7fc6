"""Heads ranked, on the terminal."""

from __future__ import annotations

from typing import Any

from regard.views.terminal.heads import print_heads
from tests.pieces.looks import made_up
from tests.views.terminal.consoles import console, printed


def shown(weights: Any = None, **options: Any) -> list[str]:
    look = made_up()
    look.weights = weights or {}
    to = console()
    print_heads(look.ranking(), to, **{"kind": None, "link": None, "shown": 2, **options})
    return [line.rstrip() for line in printed(to).splitlines()]


def test_the_best_of_each_kind() -> None:
    lines = shown()
    assert lines[0] == "made-up: 6 tokens, 6 heads (layers and heads from 0)"
    rows = {line[:18].strip(): line[18:].split() for line in lines[3:]}
    assert rows["previous token"] == ["2", "L0H0", "0.90", "L1H2", "0.40"]
    assert rows["induction"] == ["0", "not", "in", "this", "text"]
    assert rows["mixed"] == ["1"]


def test_by_a_kind() -> None:
    lines = shown(kind="local")
    assert lines[2].split() == ["head", "local", "window", "kind"]
    assert [line.split()[:2] for line in lines[3:]] == [["L0H2", "0.500"], ["L0H0", "0.010"]]


def test_by_a_link() -> None:
    lines = shown({(1, 1): 0.625, (0, 1): 0.25}, link=("it", "un\x1breal"))
    assert "weight of it → un\\x1breal" in lines[2]
    assert [line.split()[:2] for line in lines[3:]] == [["L1H1", "0.625"], ["L0H1", "0.250"]]
    assert lines[3].endswith("broad")


def test_a_measure_is_no_weight() -> None:
    lines = shown({(1, 1): 0.625}, link=("it", "animal"), measure="norm")
    assert "norm of it → animal" in lines[2]
    assert "weight" not in lines[2]
