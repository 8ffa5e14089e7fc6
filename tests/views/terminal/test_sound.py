"""A sound on a terminal: its spectrogram and the weights under it; a pipe gets the numbers."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from regard.pieces.sound import spans
from regard.views.terminal.numbers import colour
from regard.views.terminal.sound import TALL, print_sound


def shown(*, terminal: bool) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=60, force_terminal=terminal, color_system="truecolor" if terminal else None
    )
    loudness = np.zeros((8, 15), np.uint8)
    loudness[0] = 255  # the lowest band
    weights = np.array([0.2, 0.5, 0.3], np.float32)
    print_sound(spans(loudness, 5, 0.010), weights, "what it decided by", console)
    return out.getvalue()


def test_a_pipe_gets_the_strongest_spans() -> None:
    lines = shown(terminal=False).splitlines()
    assert lines[1:] == [
        "what it decided by",
        "share of what it decided from, the largest first",
        f"0.05–0.10 s   50.0 %  {'█' * 20}",
        f"0.10–0.15 s   30.0 %  {'█' * 12}",
        f"0.00–0.05 s   20.0 %  {'█' * 8}",
    ]


def test_a_terminal_gets_the_spectrogram_its_lowest_band_below() -> None:
    rows = [line for line in shown(terminal=True).splitlines() if "▀" in line]
    assert [line.count("▀") for line in rows] == [15] * (TALL // 2 + 1)
    loud = "{};{};{}".format(*colour(1.0))
    assert loud not in rows[0]
    assert loud in rows[-2]
    assert loud in rows[-1]  # the strongest span
