"""Seconds and bytes as a person reads them."""

import pytest

from regard.cost.units import in_bytes, in_seconds


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(1.234e-5, "12.3 µs"), (0.00177, "1.77 ms"), (0.1, "100 ms"), (0.99999, "1 s"), (75, "75 s")],
)
def test_seconds_for_a_reader(seconds: float, text: str) -> None:
    assert in_seconds(seconds) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (999_600, "1 MB"), (201330688, "201 MB"), (4e40, "4e+25 PB")],
)
def test_bytes_for_a_reader(size: float, text: str) -> None:
    assert in_bytes(size) == text
