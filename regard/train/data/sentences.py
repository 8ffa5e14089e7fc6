"""Sentences of a file, one a line or one a row of a table."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import NamedTuple

from regard.errors import DataError
from regard.files import name_of
from regard.train.data.examples import Examples
from regard.train.data.lines import read_lines
from regard.train.data.table import read_table


class TextLine(NamedTuple):
    """A sentence, and the line it came from (from 1)."""

    text: str
    number: int = 0

    def texts(self) -> tuple[str, ...]:
        return (self.text,)

    def line(self) -> str:
        return self.text


def read_sentences(
    path: str | os.PathLike[str], column: int | str = 0, *, unique: bool = False
) -> Examples[TextLine]:
    """The sentences of a text file, or of one column of a table, in their order.

    A column counts from 1, or has the name that the first line gives it.
    """
    lines: list[TextLine] = []
    empty: list[int] = []
    seen: set[str] = set()
    repeated = 0
    for number, text in _texts(path, column):
        sentence = " ".join(text.split())
        if not sentence:
            empty.append(number)
        elif unique and sentence in seen:
            repeated += 1
        else:
            lines.append(TextLine(sentence, number))
            seen.add(sentence)
    if not lines:
        raise DataError(f"none of the {len(empty)} lines of {name_of(path)} has text")
    return Examples(lines, empty, repeated)


def _texts(path: str | os.PathLike[str], column: int | str) -> Iterator[tuple[int, str]]:
    """The number of each line, and the text in it."""
    if not column:
        yield from enumerate(read_lines(path), 1)
        return
    table, named = read_table(path), isinstance(column, str)
    places = table.places([column]) if isinstance(column, str) else [column]
    for number, (text,) in table.cells(places, first=2 if named else 1):
        yield number, text
