"""Table: rows of cells in a text file, and its columns by number or by name."""

from __future__ import annotations

import csv
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from regard.errors import DataError, nearest
from regard.files import name_of
from regard.text import number_of
from regard.train.data.lines import read_lines


@dataclass(frozen=True)
class Table:
    """The rows of a file; one with nothing in it is ``[""]``."""

    name: str
    """Of the file, as it is said."""
    rows: list[list[str]]
    between: str
    """What is between columns."""
    numbers: Sequence[int]
    """The line of the file, from 1, with which each row begins."""

    def places(self, names: Sequence[str]) -> list[int]:
        """The columns, from 1, that the first line calls by these names."""
        return [self._place(name) for name in names]

    def cells(self, columns: Sequence[int], first: int = 1) -> Iterator[tuple[int, list[str]]]:
        """From row ``first`` on, the line of each and its cells in these columns.

        Every row has as many columns as the first; one with nothing in it gives empty cells.
        """
        count = next((len(row) for row in self.rows if row != [""]), 0)
        if count < max(columns):
            wanted = " and ".join(map(str, columns))
            are = "columns {} are" if len(columns) > 1 else "column {} is"
            raise DataError(
                f"{self.name}, line 1: {are.format(wanted)} wanted, with a {self.between} between "
                f"columns; got {_columns(count)}"
            )
        for number, row in zip(self.numbers[first - 1 :], self.rows[first - 1 :], strict=True):
            if row == [""]:
                yield number, [""] * len(columns)
                continue
            if len(row) != count:
                raise DataError(
                    f"{self.name}, line {number}: expected {_columns(count)} as in the first "
                    f"line, with a {self.between} between columns; got {len(row)}"
                )
            yield number, [row[column - 1] for column in columns]

    def _place(self, name: str) -> int:
        names = self.rows[0]
        if names.count(name) != 1:
            what = "no column" if name not in names else "more than one column"
            raise DataError(
                f"{self.name} has {what} {name!r}; its first line names {', '.join(names)}"
                f"{nearest(name, names) if name not in names else ''}"
            )
        return names.index(name) + 1


def read_table(path: str | os.PathLike[str]) -> Table:
    """A table with commas between its columns in files called .csv, where text may stand in
    quotes; with tabs in all others."""
    name, lines = name_of(path), read_lines(path)
    if not is_csv(path):
        every = range(1, len(lines) + 1)
        return Table(name, [line.split("\t") for line in lines], "tab", every)
    reader = csv.reader((f"{line}\n" for line in lines), strict=True)
    rows, numbers = [], [1]
    usual = csv.field_size_limit(sum(map(len, lines)) + len(lines))  # no text is too long
    try:
        for row in reader:  # text in quotes may go over several lines
            rows.append([" ".join(text.split("\n")) for text in row] or [""])
            numbers.append(reader.line_num + 1)
    except csv.Error as error:
        said = str(error).partition(" - ")[0]  # the rest is advice for who calls the module
        raise DataError(
            f"{name} is not CSV: {said}, in the row from line {numbers[-1]} on"
        ) from error
    finally:
        csv.field_size_limit(usual)
    return Table(name, rows, "comma", numbers[:-1])


def is_csv(path: str | os.PathLike[str]) -> bool:
    """Whether a file is called .csv, packed or not."""
    return os.fspath(path).removesuffix(".gz").endswith(".csv")


def _columns(count: int) -> str:
    return number_of(count, "column")
