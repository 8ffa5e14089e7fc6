"""Sentence pairs: from one table, or from two files whose lines belong together."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from regard.errors import DataError
from regard.files import name_of
from regard.train.data.examples import Examples
from regard.train.data.lines import one_cell, read_lines
from regard.train.data.table import read_table


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
    columns: Sequence[str] = (),
) -> Examples[Pair]:
    """Pairs from a table; columns count from 1, or are ``columns`` by the first line's names."""
    if source_column == target_column or min(source_column, target_column) < 1:
        raise DataError(
            "source and target are two different columns counted from 1; "
            f"got source {source_column} and target {target_column}"
        )
    table = read_table(path)
    places = table.places(columns) if columns else [source_column, target_column]
    cells = table.cells(places, first=2 if columns else 1)
    return _sorted_out((number, source, target) for number, (source, target) in cells)


def read_aligned(source: str | os.PathLike[str], target: str | os.PathLike[str]) -> Examples[Pair]:
    """Pairs from two files: line n of one is the translation of line n of the other."""
    left, right = read_lines(source), read_lines(target)
    if len(left) != len(right):
        raise DataError(
            f"two aligned files have equally many lines; got {len(left)} in {name_of(source)} "
            f"and {len(right)} in {name_of(target)}"
        )
    return _sorted_out(zip(range(1, len(left) + 1), left, right, strict=True))


def _sorted_out(rows: Iterable[tuple[int, str, str]]) -> Examples[Pair]:
    """The pairs of a file's lines, each with its number."""
    pairs: list[Pair] = []
    empty: list[int] = []
    for number, source, target in rows:
        source, target = one_cell(source), one_cell(target)
        if source and target:
            pairs.append(Pair(source, target, number))
        else:
            empty.append(number)
    if not pairs:
        raise DataError(f"none of the {len(empty)} lines has something on both sides")
    return Examples(pairs, empty)
