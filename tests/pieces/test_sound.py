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
