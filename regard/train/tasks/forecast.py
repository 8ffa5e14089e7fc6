"""The task of forecasting: a series, a Forecaster, and its errors beside those of baselines."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from regard.models.baselines import Baselines, fit_linear
from regard.models.forecaster import ForecastConfig, Forecaster, sized_forecaster, usual_patch
from regard.pieces.series import Numbers
from regard.store.folder import BASELINES, RunFolder
from regard.text import number_of, visible
from regard.train.config import TrainConfig
from regard.train.data.series import MOST_FITTED, DividedSeries, divided_series, some
from regard.train.data.thingconfig import SeriesConfig
from regard.train.settings import Tree
from regard.train.tasks.job import Files, Job, Settings

AT_ONCE = 1024
"""Windows of a channel at once while validating."""


class Forecasting:
    """A forecaster in training, as the loop's :class:`~regard.train.tasks.task.Task`.

    An example is the row at which a forecast begins, in all channels.
    """

    score = "MAE"
    higher = False

    def __init__(self, model: Forecaster, data: DividedSeries, config: TrainConfig) -> None:
        self.model, self.config, self.data = model, config, data
        self.values = torch.from_numpy(data.scaled())
        self.train = data.starts("train")
        self.valid = some(data.starts("valid"), config.validate_at_most)

    def batches(self, epoch: int) -> list[list[int]]:
        """All windows in an order that (seed, epoch) decide; as many at once as patches of a usual
        size would fit ``batch_tokens``, whatever the design reads."""
        context, horizon = self.data.context, self.data.horizon
        pieces = (context + horizon) // usual_patch(context, horizon) * self.values.shape[1]
        many = max(1, self.config.batch_tokens // pieces)
        chance = np.random.Generator(np.random.PCG64([self.config.seed, epoch]))
        order = (chance.permutation(len(self.train)) + self.train.start).tolist()
        return [order[i : i + many] for i in range(0, len(order), many)]

    def targets(self, rows: list[int]) -> int:
        return len(rows) * self.values.shape[1]

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        past, future = self._windows(rows)
        return self.model.loss(past, future)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self.loss(rows, 0.0)

    def _windows(self, rows: list[int]) -> tuple[Tensor, Tensor]:
        """Past (B, context) and future (B, horizon) of all channels."""
        context, horizon = self.data.context, self.data.horizon
        steps = torch.tensor(rows).unsqueeze(1) + torch.arange(-context, horizon)
        windows = self.values[steps].transpose(1, 2).flatten(0, 1)
        past, future = windows.to(next(self.model.parameters()).device).split([context, horizon], 1)
        return past, future

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        channels = self.values.shape[1]
        many, count = max(1, AT_ONCE // channels), len(self.valid)
        chunks = [list(self.valid[i : i + many]) for i in range(0, count, many)]
        total = sum(float(forward(rows)) for rows in chunks)
        figures = {"loss": total / (count * channels)}
        if decode:
            wrong = 0.0
            for rows in chunks:
                past, future = self._windows(rows)
                wrong += float((self.model(past) - future).abs().mean(-1).sum())
            figures["score"] = wrong / (count * channels)
        return figures


class Forecasts(Job[SeriesConfig, DividedSeries, DividedSeries, ForecastConfig, Forecaster]):
    """``regard train forecast``."""

    task = "forecast"
    reads = "series"
    data_config = SeriesConfig
    model_config = ForecastConfig
    usual_model = "transformer"
    usual_epochs = 20
    undecided: ClassVar[Mapping[str, Any]] = {"context": 96, "horizon": 96}
    paths: ClassVar[Iterable[str]] = ("series",)
    learns: ClassVar[Iterable[str]] = (BASELINES,)

    def recipe(self, model: Mapping[str, Any]) -> Tree:
        return {"learning_rate": 1e-3, "warmup": 50, "batch_tokens": 4000, "smoothing": 0.0} | {
            "schedule": "cosine"
        }

    def sized(self, model: str, size: str, **settings: Any) -> ForecastConfig:
        return sized_forecaster(model, size, **settings)

    def shaped(self, model: Mapping[str, Any], decided: Mapping[str, Any]) -> ForecastConfig:
        patch = model.get("patch")
        if decided is self.undecided and isinstance(patch, int) and patch > 0:
            decided = {"context": patch, "horizon": patch}  # whether it fits, the data will say
        return super().shaped(model, decided)

    def build(self, config: ForecastConfig) -> Forecaster:
        return Forecaster(config)

    def read(self, data: SeriesConfig) -> DividedSeries:
        return divided_series(data)

    def fingerprint(self, read: DividedSeries) -> str:
        return read.series.digest()

    def learn(self, read: DividedSeries, data: SeriesConfig) -> Files:
        most = -(-MOST_FITTED // len(read.series.channels))
        linear = fit_linear((past, future) for _, past, future in read.windows("train", most))
        return {BASELINES: Baselines(read.season, linear).to_text()}

    def known(self, folder: RunFolder) -> Files:
        return {BASELINES: folder.read_baselines()}

    def encode(self, read: DividedSeries, learned: Files, data: SeriesConfig) -> DividedSeries:
        return read

    def decided(self, corpus: DividedSeries) -> Tree:
        return {"context": corpus.context, "horizon": corpus.horizon}

    def make_task(
        self, model: Forecaster, corpus: DividedSeries, settings: Settings[SeriesConfig]
    ) -> Forecasting:
        return Forecasting(model, corpus, settings.train)

    def summary(self, corpus: DividedSeries, data: SeriesConfig) -> dict[str, Any]:
        parts = {part: len(corpus.starts(part)) for part in ("train", "valid", "test")}
        return parts | {"channels": corpus.series.channels, "season": corpus.season}

    def notes(self, corpus: DividedSeries, data: SeriesConfig) -> Iterable[str]:
        series, clock = corpus.series, corpus.series.clock
        names = ", ".join(visible(name) for name in series.channels[:8])
        more = f" and {len(series.channels) - 8:,} more" if len(series.channels) > 8 else ""
        yield (
            f"{len(series):,} steps of {names}{more}: to train until "
            f"{visible(clock.name(corpus.valid - 1))}, to validate until "
            f"{visible(clock.name(corpus.test - 1))}, then to test"
        )
        are = "is" if corpus.context == 1 else "are"
        season = f"a season has {corpus.season}" if corpus.season > 1 else "no season"
        yield f"{number_of(corpus.context, 'step')} {are} read, {corpus.horizon} forecast; {season}"


@dataclass(frozen=True)
class Errors:
    """How far forecasts are off, on average over windows, steps and channels."""

    name: str
    mse: float
    mae: float
    """Both in standard deviations of the training part,"""
    mase: float | None
    """and as a share of what one season before is off there; None if that is never off."""


Way = Callable[[Numbers], Numbers]
"""From windows (B, context) to forecasts (B, horizon)."""


def errors_of(data: DividedSeries, ways: Mapping[str, Way]) -> list[Errors]:
    """The errors of each way to forecast, over all windows of the test part."""
    channels = len(data.series.channels)
    squared, absolute = ({name: np.zeros(channels) for name in ways} for _ in range(2))
    count = len(data.starts("test")) * data.horizon
    for channel, past, future in data.windows("test"):
        for name, way in ways.items():
            wrong = way(past) - future
            squared[name][channel] += np.square(wrong).sum() / count
            absolute[name][channel] += np.abs(wrong).sum() / count
    naive = data.naive / data.spread
    moves = naive > 0
    return [
        Errors(
            name,
            float(squared[name].mean()),
            float(absolute[name].mean()),
            float((absolute[name][moves] / naive[moves]).mean()) if moves.any() else None,
        )
        for name in ways
    ]


def ways_of(model: Forecaster, baselines: Baselines) -> dict[str, Way]:
    """The model's own way and those of the baselines, by name, the simplest first."""
    config = model.config
    names = baselines.say(np.zeros((1, config.context)))
    ways: dict[str, Way] = {
        name: lambda past, name=name: baselines.say(past)[name]  # type: ignore[misc]
        for name in names
    }
    return ways | {config.model: lambda past: forecasts(model, past)}


@torch.no_grad()
def forecasts(model: Forecaster, past: Numbers) -> Numbers:
    """What a model says of windows (B, context), some at once."""
    device = next(model.parameters()).device
    parts = [
        model(torch.from_numpy(past[at : at + AT_ONCE]).float().to(device)).cpu().double().numpy()
        for at in range(0, len(past), AT_ONCE)
    ]
    return np.concatenate(parts)
