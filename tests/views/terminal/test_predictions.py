"""Words and labels that are predicted, as a table."""

from __future__ import annotations

from regard.pieces.whole import LABEL, NEXT, Predicted, Prediction
from regard.views.terminal.predictions import print_each, print_predictions
from tests.views.terminal.consoles import console, printed


def test_words_and_what_is_left_for_others() -> None:
    said = [Prediction("sat", 3, 1.5, 0.5), Prediction("ran", 5, 0.25, 0.125)]
    out = console()
    print_predictions(Predicted(NEXT, said, 1007), out)
    lines = [line.split() for line in printed(out).splitlines()]
    assert lines[0] == ["word", "logit", "probability"]
    assert lines[1] == ["'sat'", "1.500", "0.5000", "███████████████"]
    assert lines[2][:3] == ["'ran'", "0.250", "0.1250"]
    assert " ".join(lines[3]) == "and 1,005 more, together 0.3750"


def test_all_labels() -> None:
    out = console()
    print_predictions(Predicted(LABEL, [Prediction("good", 0, 2.0, 1.0)], 1), out)
    text = printed(out)
    assert "label" in text
    assert "more" not in text


def test_each_step() -> None:
    out = console()
    said = [Prediction("the", 3, 1.5, 0.5), Prediction("dog", 5, 0.25, 1.0)]
    print_each(["<s>", "the"], said, 1, out)
    rows = [" ".join(line.split()[:4]) for line in printed(out).splitlines()]
    assert rows == ["step read next probability", "0 <s> 'the' 0.5000", "1 the 'dog' 1.0000"]
