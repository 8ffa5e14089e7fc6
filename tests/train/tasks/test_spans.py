"""Spans: by hand, and as the shared tasks of CoNLL count them."""

from __future__ import annotations

import pytest

from regard.train.tasks.spans import marks_spans, span_f1, spans_of


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        ("O O", set()),
        ("B-PER I-PER O", {("PER", 0, 2)}),
        ("B-PER B-PER", {("PER", 0, 1), ("PER", 1, 2)}),
        ("O I-LOC I-LOC", {("LOC", 1, 3)}),
        ("B-PER I-LOC", {("PER", 0, 1), ("LOC", 1, 2)}),
        ("I-PER O I-PER", {("PER", 0, 1), ("PER", 2, 3)}),
    ],
)
def test_spans(labels: str, expected: set[tuple[str, int, int]]) -> None:
    assert spans_of(labels.split()) == expected


def test_f1_by_hand() -> None:
    right = [["B-PER", "I-PER", "O", "B-LOC"], ["O", "O"]]
    said = [["B-PER", "I-PER", "O", "O"], ["B-LOC", "O"]]
    assert span_f1(right, said) == 2 * 1 / (2 + 2)
    assert span_f1(right, right) == 1.0
    assert span_f1([["O"]], [["O"]]) == 1.0
    assert span_f1(right[:1], [["B-PER", "O", "O", "B-LOC"]]) == 2 * 1 / (2 + 2)


def test_which_labels_mark_spans() -> None:
    assert marks_spans(["O", "B-PER", "I-PER"])
    assert marks_spans(["I-PER", "O"])
    assert not marks_spans(["O"])
    assert not marks_spans(["NOUN", "O"])
    assert not marks_spans(["B-", "O"])
