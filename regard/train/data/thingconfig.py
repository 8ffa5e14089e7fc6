"""Thing config: where what is no text comes from: images, sounds, series, histories, episodes.

The fields are listed in docs/images.md, sounds.md, label.md, forecast.md, recommend.md and act.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from regard.train.data.config import columns_problems
from regard.train.settings import at_least, complain

MOST_WINDOW = 4_000_000
"""Steps that are read times steps that are forecast: the numbers of the linear baseline."""
EVENT = ("user", "item", "time")
"""What the columns of a history are named for."""


@dataclass(frozen=True)
class PicturesConfig:
    """How images, or sounds as images, are divided."""

    valid: str | None = None
    """The same to validate on; without one, a share of them is set aside."""
    test: str | None = None
    """The same to test on after training; without one, a share is set aside."""
    valid_share: float = 0.1
    """The share set aside to validate on."""
    test_share: float = 0.1
    """The share set aside to test on."""
    train_share: float = 1.0
    """Train on this share of those that are left: how accuracy grows with their number."""
    split_seed: int = 0
    """Decides which are set aside."""

    def __post_init__(self) -> None:
        complain(self.problems())

    def problems(self) -> list[str]:
        """Everything that is wrong with the settings."""
        found = at_least(self, 0, "split_seed")
        for name in ("valid_share", "test_share"):
            if not 0 < getattr(self, name) < 0.5:
                found.append(f"{name} must be above 0 and under 0.5, got {getattr(self, name)}")
        if not 0 < self.train_share <= 1:
            found.append(f"train_share must be above 0, at most 1, got {self.train_share}")
        return found


@dataclass(frozen=True)
class ImagesConfig(PicturesConfig):
    """Where the images of a classifier come from."""

    images: str | None = None
    """A folder with a folder a label, an IDX file beside that of its labels, or an npz file."""

    def problems(self) -> list[str]:
        found = super().problems()
        if not self.images:
            found.append("images is missing: a folder, an IDX file or an npz file")
        return found


@dataclass(frozen=True)
class SoundsConfig(PicturesConfig):
    """Where the sounds of a classifier come from, and how much of each is read."""

    sounds: str | None = None
    """A folder of wav files: in a folder a label, or named by it up to the first _."""
    seconds: float = 1.0
    """What is read of a sound, in steps of 0.05; shorter ones are filled up with silence."""
    bands: int = 32
    """Of the spectrogram, from 0 to 4,000 Hz."""

    def problems(self) -> list[str]:
        found = super().problems() + at_least(self, 4, "bands")
        if not self.sounds:
            found.append("sounds is missing: a folder of wav files")
        if self.bands > 128:
            found.append(f"bands must be at most 128, got {self.bands}")
        if not 0.05 <= self.seconds <= 60:
            found.append(f"seconds must be from 0.05 to 60, got {self.seconds}")
        return found


@dataclass(frozen=True)
class ScenesConfig(PicturesConfig):
    """Where the images of a labeller come from, with a class for each pixel."""

    images: str | None = None
    """An npz file: images, labels (a whole number for each pixel), names of the labels."""
    patch: int = 0
    """Pixels on a side of a patch, a divisor of rows and columns; 0 = as classifiers have it."""

    def problems(self) -> list[str]:
        found = super().problems() + at_least(self, 0, "patch")
        if not self.images:
            found.append("images is missing: an npz file with images and labels")
        return found


@dataclass(frozen=True)
class TableConfig:
    """Where a series comes from, how its table is read, and how it is divided."""

    series: str | None = None
    """A table (CSV): a column of times, and columns of numbers; may be gzip; - is stdin."""
    columns: str | None = None
    """The columns of numbers, with commas between them; all but the times if not given."""
    time: str | None = None
    """The column of the times; if not given, that named date, time, …, or else the first."""
    decimal: Literal["", ".", ","] = ""
    """What stands before decimals, for a table that can be read in two ways."""
    gaps: Literal["refuse", "steps"] = "refuse"
    """Where times are missing: refuse the table, or count each row as one step (trading days)."""
    valid_share: float = 0.1
    """The share of the rows to validate on,"""
    test_share: float = 0.2
    """and behind them the share to test on: the last rows."""

    def __post_init__(self) -> None:
        complain(self.problems())

    def problems(self) -> list[str]:
        """Everything that is wrong with the settings."""
        found = []
        if not self.series:
            found.append("series is missing: a table with a column of times")
        for name in ("valid_share", "test_share"):
            if not 0 < getattr(self, name) < 0.5:
                found.append(f"{name} must be above 0 and under 0.5, got {getattr(self, name)}")
        return found

    @property
    def names(self) -> list[str]:
        """The columns of numbers, one by one; none: all."""
        return [name.strip() for name in (self.columns or "").split(",") if name.strip()]


@dataclass(frozen=True)
class SeriesConfig(TableConfig):
    """What of a series a forecaster reads and forecasts."""

    horizon: int = 24
    """How many steps are forecast."""
    context: int = 0
    """How many steps are read; 0 = the horizon once or several times, at least 24 and 3 seasons."""
    season: int = 0
    """Steps of a season; 0 = by the times: a day of hours, a week of days, a year of months."""

    def problems(self) -> list[str]:
        found = at_least(self, 1, "horizon") + at_least(self, 0, "context", "season")
        if self.horizon * max(self.context, self.horizon) > MOST_WINDOW:
            found.append(
                f"context times horizon may be {MOST_WINDOW:,}, got {self.context} and "
                f"{self.horizon}"
            )
        return found + super().problems()


@dataclass(frozen=True)
class StatesConfig(TableConfig):
    """What of a series a labeller reads: its numbers, and the column of its states."""

    state: str | None = None
    """The column with the state at each step: a text, or a number that stands for one."""
    context: int = 32
    """How many steps are read at once."""

    def problems(self) -> list[str]:
        found = super().problems() + at_least(self, 2, "context")
        if not self.state:
            found.append("state is missing: the column with the state at each step (--state)")
        return found


@dataclass(frozen=True)
class HistoryConfig:
    """Where the histories of a recommender come from."""

    history: str | None = None
    """A table of user, item and time; tabs, or commas in .csv; may be gzip."""
    columns: str | None = None
    """The columns by name or number from 1: user=…,item=…,time=…; else by the first line."""
    items: str | None = None
    """A table of items and their titles, for people."""
    max_length: int = 200
    """Of a longer history the last items are read."""
    shuffle: bool = True
    """Items of equal time are trained on in another order in each pass."""

    def __post_init__(self) -> None:
        found = at_least(self, 2, "max_length")
        if not self.history:
            found.insert(0, "history is missing: a table of user, item and time")
        complain(found + columns_problems(self.columns, *EVENT))


@dataclass(frozen=True)
class EpisodesConfig:
    """Where the episodes of an actor come from, and how much of one is read at once."""

    episodes: str | None = None
    """An npz file or a table of recorded steps: episode, step, state, action, reward."""
    context: int = 20
    """How many steps are read at once."""
    valid_share: float = 0.1
    """The share of the episodes set aside to validate on,"""
    test_share: float = 0.1
    """and the share to test on."""
    split_seed: int = 0
    """Decides which are set aside."""

    def __post_init__(self) -> None:
        found = at_least(self, 1, "context") + at_least(self, 0, "split_seed")
        if not self.episodes:
            found.insert(0, "episodes is missing: an npz file or a table of recorded steps")
        for name in ("valid_share", "test_share"):
            if not 0 < getattr(self, name) < 0.5:
                found.append(f"{name} must be above 0 and under 0.5, got {getattr(self, name)}")
        complain(found)
