"""Sentence pairs: from one table, or from two files whose lines belong together."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterable
from typing import NamedTuple

from regard.errors import DataError, nearest
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
    path: str | os.PathLike[str],
    source_column: int = 1,
    target_column: int = 2,
    columns: tuple[str, str] | None = None,
) -> Examples[Pair]:
    """Pairs from a table; columns count from 1, or have the names of the first line: ``columns``.

    Every line has as many columns as the first; a line with nothing at all counts as empty.
    """
    if source_column == target_column or min(source_column, target_column) < 1:
        raise DataError(
            "source and target are two different columns counted from 1; "
            f"got source {source_column} and target {target_column}"
        )
    rows, between = read_table(path)
    if columns:
        source_column, target_column = (_named(rows[0], name, path) for name in columns)
    count = next((len(row) for row in rows if row != [""]), 0)
    if count < max(source_column, target_column):
        raise DataError(
            f"{name_of(path)}, line 1: columns {source_column} and {target_column} are wanted, "
            f"with a {between} between columns; got {_columns(count)}"
        )
    for number, row in enumerate(rows, 1):
        if len(row) != count and row != [""]:
            raise DataError(
                f"{name_of(path)}, line {number}: expected {_columns(count)} as in the first "
                f"line, with a {between} between columns; got {len(row)}"
            )
    blank = [""] * count
    full = [row if row != [""] else blank for row in rows]
    first = 1 if columns else 0
    pairs = ((row[source_column - 1], row[target_column - 1]) for row in full[first:])
    return _sorted_out(pairs, first + 1)


def read_table(path: str | os.PathLike[str]) -> tuple[list[list[str]], str]:
    """The rows of a table, and what is between its columns: a comma in files called .csv, where
    text may stand in quotes, a tab in all others."""
    lines = read_lines(path)
    if not os.fspath(path).removesuffix(".gz").endswith(".csv"):
        return [line.split("\t") for line in lines], "tab"
    try:
        rows = list(csv.reader((f"{line}\n" for line in lines), strict=True))
    except csv.Error as error:
        raise DataError(f"{name_of(path)} is not CSV: {error}") from error
    return [[" ".join(text.split("\n")) for text in row] or [""] for row in rows], "comma"


def _named(names: list[str], name: str, path: str | os.PathLike[str]) -> int:
    """The number of the column, from 1, that the first line calls ``name``."""
    if names.count(name) != 1:
        known = ", ".join(names)
        what = "no column" if name not in names else "more than one column"
        raise DataError(
            f"{name_of(path)} has {what} {name!r}; its first line names {known}"
            f"{nearest(name, names) if name not in names else ''}"
        )
    return names.index(name) + 1


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


def _sorted_out(rows: Iterable[tuple[str, str]], first: int = 1) -> Examples[Pair]:
    """The pairs of a file's lines, which are counted from ``first``."""
    pairs: list[Pair] = []
    empty: list[int] = []
    for number, (source, target) in enumerate(rows, first):
        source, target = source.strip(), target.strip()
        if source and target:
            pairs.append(Pair(source, target, number))
        else:
            empty.append(number)
    if not pairs:
        raise DataError(f"none of the {len(empty)} lines has something on both sides")
    return Examples(pairs, empty)
