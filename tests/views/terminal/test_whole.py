"""The way of a word on a terminal: numbers of the trace, no line too long."""

from __future__ import annotations

import numpy as np

from regard.pieces.whole import SENTENCE
from regard.views.terminal.whole import WholeView, print_whole
from tests.pieces.wholes import by_hand
from tests.views.terminal.consoles import console, printed


def shown(**settings: object) -> str:
    view = WholeView(by_hand(), console(), **settings)  # type: ignore[arg-type]
    print_whole(view)
    return printed(view.console)


def flat(text: str) -> str:
    return " ".join(text.split())


def test_all_of_it() -> None:
    text = shown()
    assert max(map(len, text.splitlines())) <= 80
    read = flat(text)
    assert "What becomes of 'cat' (token 2 of 2) on its way, and which word comes next?" in read
    assert "w = 13" in read
    assert "E w [3.000 4.000 0.000]" in read
    assert "Not in this vector: attention turns queries and keys" in read
    assert "Layer 0" in read
    assert "Layer 1" in read
    assert "+ attention [6.000 8.000 0.000]" in read  # layer 0, the second step
    assert "0 5.00 10.00" in read  # |(3, 4, 0)| = 5
    assert "'sat' 2.000 0.7500" in read
    assert "and 15 more, together 0.0000" in read
    assert "Proof: in every token the 4 sums above hold" in read
    assert "17 scores, largest difference 3.0e-06." in read


def test_one_layer_or_everything() -> None:
    assert "Layer 0\n" not in shown(layer=1)
    assert "Layer 1\n" in shown(layer=1)
    assert "in all" not in shown(everything=True)


def test_a_sentence_and_a_translation() -> None:
    whole = by_hand()
    whole.kind, whole.parts, whole.predictions = SENTENCE, None, []
    whole.sentence, whole.other = np.array([0.6, 0.8, 0.0]), ("a dog", 0.25)
    view = WholeView(whole, console())
    print_whole(view)
    read = flat(printed(view.console))
    assert "s · s' = 0.2500" in read
    assert "m = (x_1 + … + x_2) / 2" in read
    other = by_hand()
    other.source, other.steps = other.reading, [*other.predictions]
    view = WholeView(other, console())
    print_whole(view)
    assert "0 the 'sat' 0.7500" in flat(printed(view.console))
