"""Which label was taken for which, as a table."""

from __future__ import annotations

from regard.views.terminal.confusion import print_confusion
from tests.views.terminal.consoles import console, printed


def test_a_table_of_confusion() -> None:
    to = console()
    print_confusion(["no", "yes"], [[1200, 3], [4, 5]], [0.9975, 5 / 9], [0.99, None], to)
    text = printed(to)
    assert "1,200" in text
    assert "99.8 %" in text
    assert "none" in text
    many = console()
    labels = [f"label {i}" for i in range(13)]
    print_confusion(labels, [[0] * 13] * 13, [0.5] * 13, [0.5] * 13, many)
    assert "true" not in printed(many), "the figures alone, where the counts would not fit"
    assert printed(many).count("50.0 %") == 26
