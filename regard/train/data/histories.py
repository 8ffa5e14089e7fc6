"""Histories: what each user had, item after item, read from a table of user, item and time."""

from __future__ import annotations

import hashlib
import math
import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import pairwise
from typing import NamedTuple

from regard.errors import DataError, RegardError, nearest
from regard.files import name_of
from regard.pieces.history import History
from regard.train.data.table import read_table

COLUMNS = ("user", "item", "time")
ALIASES = {
    "user": ("user", "user_id", "userid"),
    "item": ("item", "item_id", "itemid", "movieid", "movie_id"),
    "time": ("time", "timestamp", "date", "datetime"),
}
"""What a column may be called in the first line; what stands after a colon is its type."""
Path = str | os.PathLike[str]


class Event(NamedTuple):
    """A line of the table: a user had an item."""

    when: float
    """Seconds of a date, or whatever the numbers of the table count."""
    item: str
    written: str
    """The time as it is written."""


@dataclass(frozen=True)
class Histories:
    """Those of all users of a table, each in the order of time."""

    users: list[History]
    moved: int
    """Items that stood before an earlier one of the same user, and were put in order."""

    @property
    def events(self) -> int:
        return sum(len(history.items) for history in self.users)

    @property
    def tied(self) -> int:
        """Those with the time of the event before them: their order is that of the lines."""
        return sum(sum(history.tied) for history in self.users)

    def of(self, user: str) -> History:
        """The history of one user."""
        for history in self.users:
            if history.user == user:
                return history
        known = [history.user for history in self.users]
        such = ", ".join(known[:3])
        raise RegardError(
            f"there is no user {user!r} among {len(known):,} (such as {such}){nearest(user, known)}"
        )

    def digest(self) -> str:
        """A fingerprint of all histories."""
        found = hashlib.sha256()
        for history in self.users:
            found.update("\t".join([history.user, *history.items]).encode() + b"\n")
        return found.hexdigest()


def read_histories(path: Path, columns: Mapping[str, str] | None = None) -> Histories:
    """The histories of a table, in the order of their users' first lines.

    Columns are found by the names in the first line; ``columns`` gives other names, or numbers from
    1. Without names the table has three columns. Lines of equal time stay in their order.
    """
    table = read_table(path)
    rows = table.rows
    first, places = _places(rows[0], columns, path)
    events: dict[str, list[Event]] = defaultdict(list)
    kinds: dict[str, int] = {}
    for number, row in enumerate(rows[first:], first + 1):
        if row == [""]:
            continue
        if len(row) <= max(places):
            raise DataError(
                f"{name_of(path)}, line {number}: expected {len(rows[0])} columns as in the first "
                f"line, with a {table.between} between columns; got {len(row)}"
            )
        user, item, time = (row[place].strip() for place in places)
        for what, cell in zip(COLUMNS, (user, item, time), strict=True):
            if not cell:
                raise DataError(f"{name_of(path)}, line {number}: the {what} is missing")
        when = _parsed(time)
        if when is None:
            raise DataError(
                f"{name_of(path)}, line {number}: a time is a number or a date such as 2024-01-31 "
                f"or 2024-01-31T12:30:00; got {time!r:.60}"
            )
        kinds.setdefault("numbers" if _is_number(time) else "dates", number)
        events[user].append(Event(when, item, time))
    if len(kinds) > 1:
        lines = " and ".join(f"{kind} (line {number})" for kind, number in kinds.items())
        raise DataError(f"{name_of(path)} has two kinds of times: {lines}")
    if not events:
        raise DataError(f"{name_of(path)} has no line with a user, an item and a time")
    return _ordered(events)


def _ordered(events: Mapping[str, list[Event]]) -> Histories:
    users, moved = [], 0
    for user, own in events.items():
        moved += sum(one.when > other.when for one, other in pairwise(own))
        own = sorted(own, key=lambda event: event.when)
        tied = [False, *(one.when == other.when for one, other in pairwise(own))]
        users.append(History(user, [e.item for e in own], [e.written for e in own], tied))
    return Histories(users, moved)


def _places(
    names: Sequence[str], columns: Mapping[str, str] | None, path: Path
) -> tuple[int, list[int]]:
    """How many lines the names take, and where the columns of user, item and time are, from 0."""
    plain = [name.partition(":")[0].strip().lower() for name in names]
    if columns and all(columns[what].isdecimal() for what in COLUMNS):
        places = [int(columns[what]) - 1 for what in COLUMNS]
        if not all(0 <= place < len(names) for place in places):
            raise DataError(
                f"{name_of(path)} has {len(names)} columns, counted from 1; got "
                f"{', '.join(f'{what}={columns[what]}' for what in COLUMNS)}"
            )
        return int(_is_header(plain, names[places[2]])), places
    wanted = {what: (columns[what].lower(),) for what in COLUMNS} if columns else ALIASES
    found = {
        what: next((i for i, name in enumerate(plain) if name in wanted[what]), None)
        for what in COLUMNS
    }
    missing = [what for what, place in found.items() if place is None]
    if not missing:
        return 1, [place for place in found.values() if place is not None]
    if not columns and len(missing) == len(COLUMNS) and len(names) == len(COLUMNS):
        return int(_is_header(plain, names[2])), [0, 1, 2]
    raise DataError(
        f"{name_of(path)}, line 1: no column is called {missing[0]!r}; the line has "
        f"{', '.join(map(repr, names[:8]))}: name the columns in the first line, or give "
        "--columns user=1,item=2,time=3 (names or numbers)"
    )


def _is_header(plain: Sequence[str], time: str) -> bool:
    """Whether a first line has names: it has one of ours, or no time where times should be."""
    known = {name for names in ALIASES.values() for name in names}
    return any(name in known for name in plain) and _parsed(time.strip()) is None


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _parsed(text: str) -> float | None:
    """A time as a number; None if it is none. A date without a zone is one of UTC."""
    if _is_number(text):
        return float(text)
    try:
        when = datetime.fromisoformat(text)
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()


def read_titles(path: Path) -> dict[str, str]:
    """A table of items and their titles, in its first two columns."""
    table = read_table(path)
    titles: dict[str, str] = {}
    for number, row in enumerate(table.rows, 1):
        if row == [""]:
            continue
        if len(row) < 2:
            raise DataError(
                f"{name_of(path)}, line {number}: an item and its title are wanted, with a "
                f"{table.between} between them; got one column"
            )
        titles[row[0].strip()] = " ".join(row[1].split())
    return titles
