"""Labelled: sentences with their labels, one a line."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from regard.errors import DataError
from regard.files import name_of
from regard.train.data.examples import Examples
from regard.train.data.lines import read_lines
from regard.train.data.table import is_csv, read_table

MOST_DIGITS = 18
"""Of a label that counts as a number."""
MOST = 1000
"""Labels; more are a sign that the label does not come first."""


class Labelled(NamedTuple):
    """A sentence and its label, and the line they came from (from 1)."""

    label: str
    text: str
    number: int = 0

    def texts(self) -> tuple[str, ...]:
        return (self.text,)

    def line(self) -> str:
        return f"{self.label}\t{self.text}"


def read_labelled(path: str | os.PathLike[str], columns: Sequence[str] = ()) -> Examples[Labelled]:
    """``label sentence`` lines; with a tab in the first line, ``label TAB sentence``; of files
    called .csv the first two columns. ``columns``: those of label and sentence, by the names that
    the first line gives them."""
    rows: list[Labelled] = []
    empty: list[int] = []
    for number, label, sentence in _cells(path, columns):
        label, text = " ".join(label.split()), " ".join(sentence.split())
        if label and text:
            rows.append(Labelled(label, text, number))
        else:
            empty.append(number)
    name = name_of(path)
    if not rows:
        raise DataError(f"none of the {len(empty)} lines of {name} has a label and a sentence")
    labels = {row.label for row in rows}
    if len(labels) > MOST:
        raise DataError(
            f"{name} has {len(labels):,} different labels, such as {sorted(labels)[0]!r}; "
            "the label comes first, then a tab or a space, then the sentence"
        )
    return Examples(rows, empty)


def _cells(path: str | os.PathLike[str], columns: Sequence[str]) -> Iterator[tuple[int, str, str]]:
    """The number of each line, its label and its sentence; either may be empty."""
    if columns or is_csv(path):
        table = read_table(path)
        places = table.places(columns) if columns else [1, 2]
        for number, (label, text) in table.cells(places, first=2 if columns else 1):
            yield number, label, text
        return
    lines = read_lines(path)
    first = next((line for line in lines if line.strip()), "")
    between = "\t" if "\t" in first else None
    for number, line in enumerate(lines, 1):
        label, *rest = line.strip().split(between, 1) or [""]
        yield number, label, rest[0] if rest else ""


def labels_of(rows: Iterable[Labelled]) -> list[str]:
    """The labels that occur, numbers in their order before words in theirs."""
    return sorted({row.label for row in rows}, key=label_order)


def label_order(label: str) -> tuple[bool, int, str]:
    """By which labels are sorted."""
    number = label.isdecimal() and len(label) <= MOST_DIGITS
    return not number, int(label) if number else 0, label


def check_labels(
    rows: Sequence[Labelled], labels: Sequence[str], path: str | os.PathLike[str]
) -> None:
    """Raise if a row has a label that is not among ``labels``."""
    for row in rows:
        if row.label not in labels:
            known = ", ".join(labels[:8]) + (", …" if len(labels) > 8 else "")
            raise DataError(
                f"{name_of(path)}, line {row.number}: the label {row.label!r} does not occur in "
                f"training, which has {known}"
            )
