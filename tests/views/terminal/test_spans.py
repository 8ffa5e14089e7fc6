"""A curve or a sound on a terminal, and under it the weights of a piece; a pipe gets text."""

from __future__ import annotations

import io

import numpy as np
from rich.console import Console

from regard.pieces.backdrop import Backdrop
from regard.pieces.pieces import Pieces
from regard.pieces.sound import spans
from regard.views.terminal.spans import in_columns, print_spans


def printed(pieces: Pieces, weights: list[float], *, terminal: bool, until: int | None) -> str:
    out = io.StringIO()
    console = Console(
        file=out, width=60, force_terminal=terminal, color_system="truecolor" if terminal else None
    )
    print_spans(pieces, np.array(weights, np.float32), 1, "b: a title", console, until)
    return out.getvalue()


def overlapping() -> Pieces:
    behind = Backdrop("curve", np.arange(6, dtype=np.float32)[np.newaxis])
    return Pieces.of_thing(["[CLS]"], ["a", "b"], [(0, 4), (2, 6)], behind)


def test_where_pieces_overlap_the_larger_weight_is_drawn() -> None:
    assert in_columns(overlapping(), [0.5, 0.2, 0.3], 6, 6) == [0.2, 0.2, 0.3, 0.3, 0.3, 0.3]
    assert in_columns(overlapping(), [0.5, 0.3, 0.2], 6, 3) == [0.3, 0.3, 0.2]


def test_a_curve_the_piece_and_its_weights() -> None:
    lines = printed(overlapping(), [0.5, 0.3, 0.2], terminal=False, until=None).splitlines()
    assert lines[1] == "b: a title"
    assert lines[2].split()[0] == "5"
    assert lines[-5] == "    from ▲▲▲▲▲▲▲▲▲▲▲▲▲▲▲▲"
    assert lines[-4] == "      to ▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▅▃▃▃▃▃▃▃▃"
    assert lines[-3:] == ["  [CLS] 0.5000", "  a     0.3000", "  b     0.2000"]


def test_a_sound_up_to_its_end() -> None:
    loudness = np.zeros((4, 9), np.float32)
    loudness[0] = 1
    sound = spans(loudness, 3, 0.01, until=5)
    piped = printed(sound, [0.2, 0.3, 0.5], terminal=False, until=5)
    assert "▀" not in piped
    assert "50.0% of the weight goes to the 1 piece behind the sound's end" in " ".join(
        piped.split()
    )
    shown = printed(sound, [0.2, 0.3, 0.5], terminal=True, until=5)
    assert {line.count("▀") for line in shown.splitlines() if "▀" in line} == {20}
