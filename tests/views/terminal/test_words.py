"""Word vectors as text: words come from files."""

from __future__ import annotations

import numpy as np

from regard.views.terminal.words import format_vector, near_table
from tests.views.terminal.consoles import console, printed


def test_all_numbers_of_a_vector() -> None:
    vector = np.array([0.1, -2.5, 1e-9], np.float32)
    assert [float(part) for part in format_vector(vector).strip("[]").split()] == [0.1, -2.5, 1e-9]
    assert len(format_vector(np.ones(2000, np.float32)).split()) == 2000


def test_the_nearest() -> None:
    to = console()
    to.print(near_table([("[red]cat", 0.98765), ("dog", 0.5)]))
    rows = [line.split() for line in printed(to).splitlines() if line.strip()]
    assert rows[-2:] == [["1", "[red]cat", "0.9877"], ["2", "dog", "0.5000"]]
