"""Sentence pairs: from one table, or from two files whose lines belong together."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import NamedTuple

from regard.errors import DataError
from regard.files import name_of
from regard.train.data.examples import Examples
from regard.train.data.lines import read_lines


class Pair(NamedTuple):
    """A sentence and its translation, and the line they came from (from 1)."""

    source: str
    target: str
    number: int = 0

    def texts(self) -> tuple[str, ...]:
        return self.source, self.target

    def line(self) -> str:
        return f"{self.source}\t{self.target}"


def read_pairs(
    path: str | os.PathLike[str], source_column: int = 1, target_column: int = 2
) -> Examples[Pair]:
    """Pairs from a table with a tab between columns; columns count from 1.

    Every line has as many columns as the first; a line with nothing at all counts as empty.
    """
    if source_column == target_column or min(source_column, target_column) < 1:
        raise DataError(
            "source and target are two different columns counted from 1; "
            f"got source {source_column} and target {target_column}"
        )
    rows = [line.split("\t") for line in read_lines(path)]
    columns = next((len(row) for row in rows if row != [""]), 0)
    if columns < max(source_column, target_column):
        raise DataError(
            f"{name_of(path)}, line 1: columns {source_column} and {target_column} are wanted, "
            f"with a tab between columns; got {_columns(columns)}"
        )
    for number, row in enumerate(rows, 1):
        if len(row) != columns and row != [""]:
            raise DataError(
                f"{name_of(path)}, line {number}: expected {_columns(columns)} as in the first "
                f"line, with a tab between columns; got {len(row)}"
            )
    blank = [""] * columns
    full = [row if row != [""] else blank for row in rows]
    return _sorted_out((row[source_column - 1], row[target_column - 1]) for row in full)


def read_aligned(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> Examples[Pair]:
    """Pairs from two files: line n of one is the translation of line n of the other."""
    left, right = read_lines(source), read_lines(target)
    if len(left) != len(right):
        raise DataError(
            f"two aligned files have equally many lines; got {len(left)} in {name_of(source)} "
            f"and {len(right)} in {name_of(target)}"
        )
    return _sorted_out(zip(left, right, strict=True))


def _columns(count: int) -> str:
    return "1 column" if count == 1 else f"{count} columns"


def _sorted_out(rows: Iterable[tuple[str, str]]) -> Examples[Pair]:
    pairs: list[Pair] = []
    empty: list[int] = []
    for number, (source, target) in enumerate(rows, 1):
        source, target = source.strip(), target.strip()
        if source and target:
            pairs.append(Pair(source, target, number))
        else:
            empty.append(number)
    if not pairs:
        raise DataError(f"none of the {len(empty)} lines has something on both sides")
    return Examples(pairs, empty)
