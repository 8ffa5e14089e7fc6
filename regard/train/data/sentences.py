"""Sentences of a file, one a line or one a row of a table."""

from __future__ import annotations

import os
from typing import NamedTuple

from regard.errors import DataError
from regard.files import name_of
from regard.train.data.examples import Examples
from regard.train.data.lines import read_lines


class TextLine(NamedTuple):
    """A sentence, and the line it came from (from 1)."""

    text: str
    number: int = 0

    def texts(self) -> tuple[str, ...]:
        return (self.text,)

    def line(self) -> str:
        return self.text


def read_sentences(
    path: str | os.PathLike[str], column: int = 0, *, unique: bool = False
) -> Examples[TextLine]:
    """The sentences of a text file, or of one column of a table, in their order."""
    lines: list[TextLine] = []
    empty: list[int] = []
    seen: set[str] = set()
    repeated = 0
    for number, row in enumerate(read_lines(path), 1):
        sentence = " ".join((_cell(row, column, number, path) if column else row).split())
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


def _cell(row: str, column: int, number: int, path: str | os.PathLike[str]) -> str:
    cells = row.split("\t")
    if len(cells) < column and row:
        raise DataError(
            f"{name_of(path)}, line {number}: column {column} is wanted, with a tab between "
            f"columns; got {len(cells)} of them"
        )
    return cells[column - 1] if row else ""
