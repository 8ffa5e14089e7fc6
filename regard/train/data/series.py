"""A series divided by time: windows to train on, later ones to validate, the last ones to test."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

from regard.errors import DataError
from regard.files import name_of
from regard.pieces.series import Numbers, Series
from regard.pieces.seriesfile import read_series
from regard.text import quoted
from regard.train.data.split import Part
from regard.train.data.thingconfig import SeriesConfig

LEAST_CONTEXT = 24
"""Steps that are read where nothing is said,"""
SEASONS = 3
"""or as many seasons, if that is more."""
MOST_FITTED = 100_000
"""Windows that the linear baseline is fitted to, evenly spread, if there are more."""
AT_ONCE = 4096


@dataclass(frozen=True)
class DividedSeries:
    """A series with its borders: all that is learned, scales too, is of the rows before the first.

    A window of a later part may read values of the part before it; what it is to forecast is of its
    own part alone.
    """

    series: Series
    valid: int
    """The first row to validate on,"""
    test: int
    """and the first row to test on."""
    context: int
    horizon: int
    season: int

    @property
    def mean(self) -> Numbers:
        """Of each channel, of the training part."""
        found: Numbers = self.series.values[: self.valid].mean(0)
        return found

    @property
    def spread(self) -> Numbers:
        """The standard deviation of each channel, of the training part."""
        found: Numbers = self.series.values[: self.valid].std(0)
        return found

    @property
    def naive(self) -> Numbers:
        """The mean absolute error, in the training part, of saying the value of one season before:
        what errors are divided by in MASE (Hyndman & Koehler 2006)."""
        part = self.series.values[: self.valid]
        found: Numbers = np.abs(part[self.season :] - part[: -self.season]).mean(0)
        return found

    def scaled(self) -> NDArray[np.float32]:
        """(steps, channels) in standard deviations of the training part."""
        return ((self.series.values - self.mean) / self.spread).astype(np.float32)

    def starts(self, part: Part) -> range:
        """The rows at which a forecast of this part may begin."""
        first, end = {
            "train": (self.context, self.valid),
            "valid": (self.valid, self.test),
            "test": (self.test, len(self.series)),
        }[part]
        return range(max(first, self.context), end - self.horizon + 1)

    def windows(self, part: Part, most: int = 0) -> Iterator[tuple[int, Numbers, Numbers]]:
        """Channel by channel, past (B, context) and future (B, horizon) of a part, some at once; of
        more than ``most`` windows, if it is not 0, as many evenly spread."""
        scaled = self.scaled().astype(np.float64)
        views = sliding_window_view(scaled, self.context + self.horizon, axis=0)
        first = np.array(some(self.starts(part), most)) - self.context
        for channel in range(scaled.shape[1]):
            for at in range(0, len(first), AT_ONCE):
                window = views[first[at : at + AT_ONCE], channel]
                yield channel, window[:, : self.context], window[:, self.context :]


def some(starts: range, most: int) -> Sequence[int]:
    """``starts``, or ``most`` of them evenly spread, if there are more and it is not 0."""
    if not most or len(starts) <= most:
        return starts
    return [starts[i] for i in np.linspace(0, len(starts) - 1, most).round().astype(int).tolist()]


def divided_series(data: SeriesConfig, path: str | None = None) -> DividedSeries:
    """Read and divide the series of the settings, or another one as they say."""
    file = path or data.series
    assert file is not None, "SeriesConfig checks this"
    series = read_series(
        file,
        time=data.time,
        columns=data.names,
        decimal=data.decimal,
        steps=data.gaps == "steps",
    )
    season = data.season or series.clock.season
    n, horizon = len(series), data.horizon
    valid_rows, test_rows = (round(share * n) for share in (data.valid_share, data.test_share))
    first = n - valid_rows - test_rows
    if not data.season and season * 2 > first:
        season = 1
    least = max(LEAST_CONTEXT, SEASONS * season)
    context = data.context or horizon * -(-least // horizon)
    made = DividedSeries(series, first, n - test_rows, context, horizon, season)
    _check(made, name_of(file))
    return made


def _check(data: DividedSeries, where: str) -> None:
    n = len(data.series)
    for part in ("train", "valid", "test"):
        if not data.starts(part):
            raise DataError(
                f"{where} has {n:,} rows, too few: its part to {part} has no window that reads "
                f"{data.context} steps and forecasts {data.horizon}; give a longer series, or a "
                "smaller --horizon or --context"
            )
    if data.season >= data.valid:
        raise DataError(f"a season of {data.season} steps is longer than the training part")
    for name, spread in zip(data.series.channels, data.spread, strict=True):
        if not spread > 0:
            raise DataError(
                f"the column {quoted(name)} of {where} does not change in the training part: "
                "leave it out by --columns"
            )
