"""``--series``: which table of times and numbers is read, and how it is written."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click

from regard.errors import RegardError

if TYPE_CHECKING:
    from regard.pieces.series import Series

Function = TypeVar("Function", bound=Callable[..., Any])
WITHOUT = "says how a table is read: it goes with --series"
"""What is said of the other options where there is no series."""
OPTIONS = [
    click.option("--series", metavar="FILE", help="A table (CSV) of times and numbers instead."),
    click.option("--channel", metavar="NAME", help="With --series: this column; else the first."),
    click.option("--time", metavar="NAME", help="With --series: the column of times."),
    click.option("--decimal", type=click.Choice([".", ","]), help="Before decimals in a table."),
    click.option("--gaps", type=click.Choice(["steps"]), help="Each row of a table is one step."),
]


def series_options(function: Function) -> Function:
    """Give a command the options that say which series is read."""
    for option in reversed(OPTIONS):
        function = option(function)
    return function


@dataclass(frozen=True)
class SeriesOptions:
    """Which series is read, and how its table is written."""

    series: str | None
    channel: str | None
    time: str | None
    decimal: str | None
    gaps: str | None

    def check(self) -> None:
        """Refuse what says how to read a table where there is none."""
        if self.series is None:
            for name, value in vars(self).items():
                if value is not None:
                    raise RegardError(f"--{name} {WITHOUT}")

    def read(self, usual: Mapping[str, Any], without: str | None = None) -> Series:
        """The series; what the options leave open is as the ``usual`` settings say. The table may
        have the column ``without`` numbers or not: it is left out."""
        from regard.pieces.seriesfile import read_series

        assert self.series is not None
        columns = [self.channel] if self.channel else usual.get("columns") or ()
        if isinstance(columns, str):
            columns = [name.strip() for name in columns.split(",")]
        return read_series(
            self.series,
            time=self.time or usual.get("time"),
            columns=columns,
            decimal=self.decimal or usual.get("decimal", ""),
            steps=(self.gaps or usual.get("gaps")) == "steps",
            without=without,
        )
