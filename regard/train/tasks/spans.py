"""Spans: names and phrases that labels such as B-PER, I-PER and O mark, and their F1.

A span is right if its kind, its first and its last word are. As in the shared tasks of CoNLL, an
I- that follows no word of its kind begins a span.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

OUTSIDE = "O"


def marks_spans(labels: Iterable[str]) -> bool:
    """Whether these labels are O, B-… and I-…, and not O alone."""
    found = set(labels)
    inside = found - {OUTSIDE}
    return bool(inside) and all(label[:2] in ("B-", "I-") and label[2:] for label in inside)


def spans_of(labels: Sequence[str]) -> set[tuple[str, int, int]]:
    """(kind, first word, word behind the last) of each span of a sentence."""
    found: set[tuple[str, int, int]] = set()
    kind, start = "", 0
    for i, label in enumerate([*labels, OUTSIDE]):
        mark, own = label[:1], label[2:]
        if kind and (mark != "I" or own != kind):
            found.add((kind, start, i))
            kind = ""
        if mark in "BI" and not kind:
            kind, start = own, i
    return found


def span_f1(right: Iterable[Sequence[str]], said: Iterable[Sequence[str]]) -> float:
    """2 · hits / (spans that are there + spans that were said), of all sentences; from 0 to 1.

    Where there is no span and none was said, it is 1.
    """
    hits = total = 0
    for true, found in zip(right, said, strict=True):
        these, those = spans_of(true), spans_of(found)
        hits += len(these & those)
        total += len(these) + len(those)
    return 2 * hits / total if total else 1.0
