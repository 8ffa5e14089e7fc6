"""Who said it, as tables and bars."""

from __future__ import annotations

from dataclasses import replace

from regard.views.terminal.parts import print_parts
from tests.pieces.wholes import by_hand
from tests.views.terminal.consoles import console, printed


def test_tables() -> None:
    whole, out = by_hand(), console()
    assert whole.parts is not None
    print_parts(whole.parts, whole.reading, None, out)
    lines = printed(out).splitlines()
    assert max(map(len, lines)) <= 80
    text = " ".join(printed(out).split())
    assert text.startswith("Who said 'sat'? logit = sum of the parts")
    assert "attention +0.500" in text
    assert text.index("layer 1 feed-forward +1.250") < text.index("layer 0 head 1, most from 'cat'")
    assert "cat +0.750" in text
    assert "The 5 parts sum to 2.0000; the logit is 2.0000: difference 0.0e+00." in text


def test_heads_that_are_not_known() -> None:
    whole, out = by_hand(), console()
    assert whole.parts is not None
    print_parts(replace(whole.parts, whole=False), whole.reading, None, out)
    assert "cannot be told apart" in " ".join(printed(out).split())
