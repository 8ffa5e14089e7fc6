"""Clock: the times of a series: read, held to one step, and counted on into the future."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from statistics import median
from typing import Any

from regard.errors import DataError
from regard.text import quoted

NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d{1,3})?", re.ASCII)
"""As it stands in a table, with a point for the decimals."""
FORMATS = (
    "%Y/%m/%d",
    "%Y/%m/%d %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%d.%m.%Y",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y %H:%M:%S",
    "%Y-%m",
    "%b %d %Y",
    "%d %b %Y",
)
"""Beside ISO 8601. 03/04/2020 is none of them: it is March for some and April for others."""
DAY = 86_400.0
GAP = 1.5
"""Of the usual step: as much is a gap. Months are 28 to 31 days, and none of them is one."""


@dataclass(frozen=True)
class Clock:
    """Times at one distance; rows without times, or counted as steps, have none."""

    texts: list[str]
    """As the file has them."""
    moments: list[datetime] | list[float]
    """The same as dates or as numbers; empty where rows are steps."""
    step: float = 0.0
    """The usual distance: of dates in seconds."""
    months: int = 0
    """The same in months, where dates go by the calendar."""

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def season(self) -> int:
        """Steps of the season that such times usually have: a day of hours, a week of days, a year
        of weeks, months or quarters; 1 where there is none."""
        if self.months:
            return 12 // self.months if 12 % self.months == 0 else 1
        if not self.moments or not isinstance(self.moments[0], datetime):
            return 1
        if self.step < DAY:
            return round(DAY / self.step) if DAY % self.step == 0 else 1
        return {1.0: 7, 7.0: 52}.get(self.step / DAY, 1)

    def name(self, row: int) -> str:
        """The time of a row; behind the last one, the time that it would have."""
        if row < len(self):
            return self.texts[row]
        after = row - len(self) + 1
        if not self.moments:
            return f"+{after}"
        last = self.moments[-1]
        if not isinstance(last, datetime):
            return f"{last + after * self.step:.10g}"
        try:
            if self.months:
                return _month_later(last, after * self.months).date().isoformat()
            moment = last + timedelta(seconds=after * self.step)
        except (ValueError, OverflowError):  # after the year 9999
            return f"+{after}"
        days = self.step % DAY == 0
        return moment.date().isoformat() if days else moment.isoformat(" ", "minutes")

    def row(self, text: str) -> int:
        """The first row whose time is or begins with ``text``."""
        for row, time in enumerate(self.texts):
            if text and time.startswith(text):
                return row
        raise DataError(
            f"there is no time {quoted(text[:40])}: times go from {quoted(self.texts[0])} to "
            f"{quoted(self.texts[-1])}"
        )


def read_clock(texts: Sequence[str], where: str, *, steps: bool = False) -> Clock:
    """The times that a column has; ``where`` is how errors name it.

    With ``steps`` each row is one step from the one before, whatever the times say.
    """
    moments = _moments(texts, where)
    distances = [_distance(a, b) for a, b in pairwise(moments)]
    for row, distance in enumerate(distances):
        if distance <= 0:
            raise DataError(
                f"{where} must go forwards; {quoted(texts[row + 1])} comes after "
                f"{quoted(texts[row])}: sort the file, one row a time, or name the column of the "
                "times by --time"
            )
    if steps:
        return Clock(list(texts), [])
    usual = median(distances) if distances else 0.0
    for row, distance in enumerate(distances):
        if distance >= GAP * usual or distance <= usual / 2:
            what = "a gap" if distance > usual else "a shorter step"
            raise DataError(
                f"{where} has {what} from {quoted(texts[row])} to {quoted(texts[row + 1])}: "
                f"{_said(moments, distance)}, where {_said(moments, usual)} is usual; fill it, or "
                "count each row as one step (trading days) by --gaps steps"
            )
    return Clock(list(texts), moments, usual, _months(moments))


def _moments(texts: Sequence[str], where: str) -> list[datetime] | list[float]:
    """All of them in the one way that fits the first."""
    for way in (_iso, *(_by(form) for form in FORMATS), _number):
        if not texts or way(texts[0]) is None:
            continue
        found = [way(text) for text in texts]
        kinds = [getattr(moment, "tzinfo", moment is None) for moment in found]
        row = next((i for i, kind in enumerate(kinds) if kind != kinds[0]), None)
        if row is not None:
            raise DataError(
                f"{where} has {quoted(texts[row][:40])} where {quoted(texts[0][:40])} stands in "
                "the first row: times are written in one way"
            )
        return found
    first = quoted(texts[0][:40]) if texts else "nothing"
    raise DataError(
        f"{where} has {first}: times are dates such as 2020-03-04 or 2020-03-04 05:00, or numbers"
    )


def _iso(text: str) -> datetime | None:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        return None
    return moment.astimezone(UTC) if moment.tzinfo else moment


def _by(form: str) -> Any:
    def way(text: str) -> datetime | None:
        try:
            return datetime.strptime(text, form)
        except ValueError:
            return None

    return way


def _number(text: str) -> float | None:
    return float(text) if NUMBER.fullmatch(text) else None


def _distance(before: Any, after: Any) -> float:
    """Between two dates in seconds, or between two numbers."""
    found = after - before
    return found.total_seconds() if isinstance(found, timedelta) else float(found)


def _months(moments: list[datetime] | list[float]) -> int:
    """The step in months, if dates go by it: all on one day of the month, or all on its last."""
    dates = [m for m in moments if isinstance(m, datetime)]
    same = len({(d.day, d.time()) for d in dates}) == 1
    if len(dates) < 2 or not (same or all(map(_ends_month, dates))):
        return 0
    counts = {12 * (b.year - a.year) + b.month - a.month for a, b in pairwise(dates)}
    return counts.pop() if len(counts) == 1 else 0


def _ends_month(date: datetime) -> bool:
    return (date + timedelta(days=1)).day == 1


def _month_later(moment: datetime, months: int) -> datetime:
    if _ends_month(moment):
        return _month_later(moment + timedelta(days=1), months) - timedelta(days=1)
    year, month = divmod(12 * moment.year + moment.month - 1 + months, 12)
    return moment.replace(year=year, month=month + 1)


def _said(moments: list[datetime] | list[float], distance: float) -> str:
    """A distance for people."""
    if not isinstance(moments[0], datetime):
        return f"{distance:g}"
    days = distance / DAY
    if days >= 1 and days == int(days):
        return f"{int(days)} day{'s' if days > 1 else ''}"
    return str(timedelta(seconds=distance))
