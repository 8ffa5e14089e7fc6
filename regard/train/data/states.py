"""States: a series with a state at each step, divided by time."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from regard.errors import DataError
from regard.files import name_of
from regard.pieces.series import Series
from regard.pieces.seriesfile import read_states
from regard.text import quoted
from regard.train.data.labelled import label_order
from regard.train.data.split import Part
from regard.train.data.thingconfig import StatesConfig


@dataclass(frozen=True)
class DividedStates:
    """A series, its states, and where its parts end: all that is learned is of the first rows."""

    series: Series
    states: list[str]
    """At each step."""
    valid: int
    """The first row to validate on,"""
    test: int
    """and the first row to test on."""
    context: int
    """Steps that are read at once."""

    @property
    def labels(self) -> list[str]:
        """The states that training knows."""
        return sorted(set(self.states[: self.valid]), key=label_order)

    def digest(self) -> str:
        """A fingerprint of everything."""
        return hashlib.sha256("\n".join([self.series.digest(), *self.states]).encode()).hexdigest()

    def scale(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """The mean and the standard deviation of each channel, of the training part."""
        first = self.series.values[: self.valid]
        return first.mean(0), first.std(0)

    def starts(self, part: Part) -> list[int]:
        """The first rows of the windows of a part: of training every row at which one fits; of the
        others one behind the other, the last one back from the end."""
        first, end = self.borders(part)
        last = end - self.context
        if part == "train":
            return list(range(first, last + 1))
        return sorted({*range(first, last + 1, self.context), last})

    def borders(self, part: Part) -> tuple[int, int]:
        """The rows of a part: from the first, up to the second."""
        edges = {
            "train": (0, self.valid),
            "valid": (self.valid, self.test),
            "test": (self.test, len(self.series)),
        }
        return edges[part]


def divided_states(data: StatesConfig, path: str | None = None) -> DividedStates:
    """Read and divide the series of the settings, or another one as they say."""
    file = path or data.series
    assert file is not None, "StatesConfig checks this"
    assert data.state is not None
    series, states = read_states(
        file,
        data.state,
        time=data.time,
        columns=data.names,
        decimal=data.decimal,
        steps=data.gaps == "steps",
    )
    n = len(series)
    valid, test = (round(share * n) for share in (data.valid_share, data.test_share))
    made = DividedStates(series, states, n - valid - test, n - test, data.context)
    _check(made, name_of(file))
    return made


def _check(data: DividedStates, where: str) -> None:
    parts: tuple[Part, ...] = ("train", "valid", "test")
    least = min(end - first for first, end in map(data.borders, parts))
    if least < data.context:
        raise DataError(
            f"{where} has {len(data.series):,} rows, too few: a part of it has {least}, and "
            f"{data.context} are read at once; give a longer series, or a smaller --context"
        )
    labels = data.labels
    if len(labels) < 2:
        raise DataError(
            f"the training part of {where} has one state, {labels[0]!r}: there is nothing to tell "
            "apart"
        )
    for row, state in enumerate(data.states):
        if state not in labels:
            raise DataError(
                f"{where} has the state {state!r} at {data.series.clock.name(row)}, which never "
                "occurs in the rows that are trained on"
            )
    for name, spread in zip(data.series.channels, data.scale()[1], strict=True):
        if not spread > 0:
            raise DataError(
                f"the column {quoted(name)} of {where} does not change in the training part: "
                "leave it out by --columns"
            )
