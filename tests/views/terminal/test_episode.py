"""What an action looked at, at 80 columns."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from regard.pieces.episode import Episode, episode_pieces
from regard.views.terminal.episode import print_act


def test_a_line_for_each_kind_of_piece() -> None:
    names = [f"number {i}" for i in range(30)]
    episode = Episode("a", 0, np.zeros((2, 30)), ["\x1b[31m", "1"], np.ones(2))
    pieces = episode_pieces(episode, names, 0, 2)
    out = io.StringIO()
    weights = np.array([0.0, 0.25, 0.125, 0.125, 0.5])
    print_act(pieces, weights, Console(file=out, width=80))
    lines = out.getvalue().splitlines()
    assert lines[0] == "  return    ▂▂▂   12%"
    assert lines[1] == "   state ▄▄▄███   75%"
    assert lines[2] == "  action ▂▂▂      12%"
    assert lines[3].startswith("  0.5000  1 state: number 0 0, number 1 0")
    assert "\\x1b[31m" in out.getvalue()
    assert max(map(len, lines)) <= 80


def test_more_steps_than_columns() -> None:
    """Of 200 steps one has all the weight: it is seen in one column."""
    episode = Episode("a", 0, np.zeros((200, 1)), ["1"] * 200, np.ones(200))
    weights = np.zeros(599)
    weights[3 * 100 + 2] = 1
    out = io.StringIO()
    console = Console(file=out, width=80)
    print_act(episode_pieces(episode, ["x"], 0, 200), weights, console)
    lines = out.getvalue().splitlines()
    assert [line.count("█") for line in lines[:3]] == [0, 0, 1]
    assert max(map(len, lines)) <= 80
