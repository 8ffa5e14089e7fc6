"""Series file: a table with a column of times and columns of numbers, read or refused.

A number is never misread: where a comma or a point could mean decimals and could mean thousands,
the file is refused until the user says which.
"""

from __future__ import annotations

import csv
import io
import os
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from regard.errors import DataError, first_line, nearest
from regard.files import name_of, read_bytes
from regard.pieces.clock import NUMBER, Clock, read_clock
from regard.pieces.series import Numbers, Series
from regard.text import quoted

MOST_BYTES = 128 << 20
"""Of a file."""
MOST_CHANNELS = 2000
DELIMITERS = ("\t", ";", ",")
"""The first of these that stands between the names of the columns."""
TIMES = ("date", "time", "datetime", "timestamp", "ds", "year", "month", "week", "day", "hour")
"""Names of a column of times; without one of them it is the first column."""
GROUPED = re.compile(r"[+-]?[1-9]\d{0,2}([.,]\d{3})+")
"""12,345 or 12.345: a number of thousands for some, with decimals for others."""
MISSING = {"", "na", "nan", "n/a", "null", "none", "-", "?"}

Rows = list[list[str]]


def read_series(
    path: str | os.PathLike[str],
    *,
    time: str | None = None,
    columns: Sequence[str] = (),
    decimal: str = "",
    steps: bool = False,
    without: str | None = None,
) -> Series:
    """The series of a table (CSV; commas, semicolons or tabs between its columns).

    ``time`` names the column of times; ``columns`` the channels, all others if there are none;
    ``decimal`` says how decimals are written; with ``steps`` each row is a step, whatever the
    times say. The column ``without`` is left out, if there is one of this name.
    """
    table = _opened(path)
    if without in table.header:
        table = table.without(table.header.index(without))
    return _series(table, time, columns, decimal, steps)


def read_states(
    path: str | os.PathLike[str],
    state: str,
    *,
    time: str | None = None,
    columns: Sequence[str] = (),
    decimal: str = "",
    steps: bool = False,
) -> tuple[Series, list[str]]:
    """The series of a table, and the text of its column ``state`` at each step."""
    table = _opened(path)
    at = table.header.index(_known(state, table.header, table.where))
    states = [row[at] for row in table.rows]
    for number, cell in enumerate(states, 1):
        if cell.lower() in MISSING:
            raise DataError(f"row {number} of column {quoted(state)} of {table.where} has no state")
    if state in columns or state == time:
        raise DataError(f"{quoted(state)} is the column of the states: no times and no numbers")
    return _series(table.without(at), time, columns, decimal, steps), states


class SeriesTable(NamedTuple):
    """The names of the columns, the rows, what stands between their cells, and of which file."""

    header: list[str]
    rows: Rows
    between: str
    where: str

    def without(self, at: int) -> SeriesTable:
        """The same, but for the column ``at``."""
        rows = [row[:at] + row[at + 1 :] for row in self.rows]
        return self._replace(header=self.header[:at] + self.header[at + 1 :], rows=rows)


def _opened(path: str | os.PathLike[str]) -> SeriesTable:
    where = name_of(path)
    try:
        text = read_bytes(path, MOST_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{where} is no table in UTF-8: {first_line(error)}") from error
    return SeriesTable(*_table(text, where), where)


def _series(
    table: SeriesTable, time: str | None, columns: Sequence[str], decimal: str, steps: bool
) -> Series:
    header, rows, between, where = table
    at = _time_column(header, time, where)
    chosen = _channels(header, at, columns, where)
    cells = [[row[i] for i in chosen] for row in rows]
    names = [header[i] for i in chosen]
    point = _decimal(cells, between, decimal, where)
    values = _numbers(cells, names, point, where)
    if at is None:
        return Series(Clock([str(i) for i in range(len(rows))], []), names, values)
    times = [row[at].replace(point, ".") if point == "," else row[at] for row in rows]
    clock = read_clock(times, f"the column {quoted(header[at])} of {where}", steps=steps)
    return Series(clock, names, values)


def _table(text: str, where: str) -> tuple[list[str], Rows, str]:
    """The names of the columns, the rows and what stands between their cells."""
    first = text.lstrip("\r\n").partition("\n")[0]
    between = next((mark for mark in DELIMITERS if mark in first), ",")
    try:
        lines = csv.reader(io.StringIO(text, newline=""), delimiter=between, strict=True)
        table = [(lines.line_num, [cell.strip() for cell in row]) for row in lines if row]
    except csv.Error as error:
        raise DataError(f"{where} is no table: {first_line(error)}") from error
    if len(table) < 2:
        raise DataError(f"{where} has no rows: a table has a line of names, then a line a time")
    header = table[0][1]
    if all(NUMBER.fullmatch(name.replace(",", ".")) for name in header):
        raise DataError(f"the first line of {where} has numbers: it must name the columns")
    if len(set(header)) < len(header) or "" in header:
        raise DataError(f"the columns of {where} must each have a name of its own, got {header}")
    if len(header) > MOST_CHANNELS:
        raise DataError(f"{where} has {len(header):,} columns, more than {MOST_CHANNELS:,}")
    for line, row in table[1:]:
        if len(row) != len(header):
            raise DataError(
                f"line {line} of {where} has {len(row)} cells between {_mark(between)}, the "
                f"first line {len(header)}"
            )
    return header, [row for _, row in table[1:]], between


def _mark(between: str) -> str:
    return {"\t": "tabs", ";": "semicolons"}.get(between, "commas")


def _time_column(header: list[str], time: str | None, where: str) -> int | None:
    """Where the times stand; None in a table of one column, whose rows are steps."""
    if time is not None:
        return header.index(_known(time, header, where))
    if len(header) == 1:
        return None
    small = [name.lower() for name in header]
    return next((small.index(name) for name in TIMES if name in small), 0)


def _channels(header: list[str], at: int | None, columns: Sequence[str], where: str) -> list[int]:
    if columns:
        return [header.index(_known(name, header, where)) for name in columns]
    return [i for i in range(len(header)) if i != at]


def _known(name: str, header: list[str], where: str) -> str:
    if name not in header:
        raise DataError(
            f"{where} has no column {quoted(name)}: it has {', '.join(header[:20])}"
            f"{nearest(name, header)}"
        )
    return name


def _decimal(cells: Rows, between: str, said: str, where: str) -> str:
    """What stands before the decimals, in all cells; refused where it could be read twice."""
    with_comma = [cell for row in cells for cell in row if "," in cell]
    with_point = [cell for row in cells for cell in row if "." in cell]
    if with_comma and with_point:
        raise DataError(
            f"the numbers of {where} have both points and commas ({with_point[0][:30]} and "
            f"{with_comma[0][:30]}): write them with one sign, for decimals, and none for thousands"
        )
    if said:
        return said
    marked = with_comma or with_point
    # A point in a table with commas between its cells is one of decimals everywhere.
    double = with_comma or between != ","
    if marked and double and all(GROUPED.fullmatch(cell) for cell in marked):
        sign = "comma" if with_comma else "point"
        raise DataError(
            f"the {sign} in {quoted(marked[0][:30])} of {where} may stand for decimals or for "
            f"thousands: if decimals, say so by --decimal '{',' if with_comma else '.'}'"
        )
    return "," if with_comma else "."


def _numbers(cells: Rows, names: list[str], point: str, where: str) -> Numbers:
    other = "." if point == "," else ","
    values = np.empty((len(cells), len(names)))
    for row, column, cell in _each(cells):
        text = cell.replace(point, ".") if point == "," else cell
        if other in cell or not NUMBER.fullmatch(text):
            place = f"row {row + 1} of column {quoted(names[column])} of {where}"
            if cell.lower() in MISSING:
                raise DataError(
                    f"{place} has no value: fill it, or leave the column out by --columns"
                )
            raise DataError(
                f"{place} has {quoted(cell[:30])}, which is no number: give the columns of "
                "numbers by --columns"
            )
        values[row, column] = float(text)
    if not np.isfinite(values).all():
        raise DataError(f"{where} has numbers that are too large")
    return values


def _each(cells: Rows) -> Iterator[tuple[int, int, str]]:
    for row, line in enumerate(cells):
        for column, cell in enumerate(line):
            yield row, column, cell
