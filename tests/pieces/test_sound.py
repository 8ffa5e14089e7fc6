"""The spans of a sound: named by their seconds, placed by their frames."""

from __future__ import annotations

import numpy as np

from regard.pieces.sound import spans
from regard.pieces.unknown import Unknown


def test_spans() -> None:
    loudness = np.arange(3 * 15, dtype=np.uint8).reshape(3, 15)
    found = spans(loudness, 5, 0.010)
    assert found.labels == ["0.00–0.05 s", "0.05–0.10 s", "0.10–0.15 s"]
    assert found.places == [(0, 5), (5, 10), (10, 15)]
    assert found.backdrop is not None
    assert found.backdrop.kind == "spectrogram"
    np.testing.assert_array_equal(found.backdrop.values, loudness)
    assert not any(found.special)
    assert not Unknown(found).note("any")  # nothing of it is unread


def test_spans_of_other_lengths_than_frames() -> None:
    found = spans(np.zeros((2, 4), np.float32), 1.25, 0.010, 3)
    assert found.labels == ["0.0000–0.0125 s", "0.0125–0.0250 s", "0.0250–0.0375 s"]
    assert found.places == [(0, 1), (1, 2), (2, 4)]


def test_spans_behind_the_end_are_padding() -> None:
    """Of a sound of 7 frames in spans of 5, the third begins behind it: it keeps its place."""
    found = spans(np.zeros((3, 15), np.uint8), 5, 0.010, until=7)
    assert found.labels == ["0.00–0.05 s", "0.05–0.10 s", "0.10–0.15 s (pad)"]
    assert found.places == [(0, 5), (5, 10), (10, 15)]
    assert found.special == found.padding == [False, False, True]
    ends_there = spans(np.zeros((3, 15), np.uint8), 5, 0.010, until=0.05 / 0.010)
    assert ends_there.padding == [False, True, True]
    assert not any(spans(np.zeros((3, 15), np.uint8), 5, 0.010, until=15).special)
