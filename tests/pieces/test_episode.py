"""Episodes as pieces: three a step, each in its place."""

from __future__ import annotations

import numpy as np
import pytest

from regard.errors import RegardError
from regard.pieces.episode import Episode, episode_pieces

EPISODE = Episode(
    "7",
    1,
    np.array([[0.5, 2.0], [1.5, -3.0], [2.25, 5.0], [0.0, 0.0]]),
    ["left", "right", "left", "right"],
    np.array([1.0, 2.0, 4.0, 8.0]),
)


def test_what_is_still_to_come() -> None:
    assert EPISODE.to_go().tolist() == [15, 14, 12, 8]


def test_three_pieces_a_step_but_no_last_action() -> None:
    pieces = episode_pieces(EPISODE, ["x", "v"], 1, 3)
    assert pieces.labels == [
        "2 return: 14 to go",
        "2 state: x 1.5, v -3",
        "2 action: right",
        "3 return: 12 to go",
        "3 state: x 2.25, v 5",
    ]
    assert pieces.places == [(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    assert not any(pieces.special)
    assert pieces.noun == "piece"  # a third of a step
    assert pieces.backdrop is not None
    assert pieces.backdrop.kind == "curve"
    assert pieces.backdrop.values.tolist() == [[1.5] * 3 + [2.25] * 3, [-3] * 3 + [5] * 3]


def test_a_step_by_its_number() -> None:
    assert EPISODE.row("4") == 3
    for wrong in ("0", "5", "x", "-1"):
        with pytest.raises(RegardError, match=f"has the steps 1 to 4; got '{wrong}'"):
            EPISODE.row(wrong)
