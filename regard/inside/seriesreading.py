"""A series read by a forecaster: how it goes on, and what each part of the forecast looked at."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from regard.errors import DataError
from regard.models.baselines import Baselines
from regard.models.forecaster import Forecaster
from regard.models.notedattention import attention_layers
from regard.pieces.series import Forecast, Numbers, Series, spans
from regard.record import record
from regard.store.folder import RunFolder, load_forecaster
from regard.store.shipped import find_folder
from regard.trace import Trace


@dataclass(frozen=True)
class SeriesReader:
    """A forecaster and the baselines that stand beside it."""

    model: Forecaster
    baselines: Baselines
    season: int
    """Of the run's settings; 0: that of the times at hand."""

    @classmethod
    def load(cls, name: str) -> SeriesReader:
        """Of a run folder, or a forecaster that comes with regard."""
        folder = find_folder(name, "forecast")
        season = RunFolder(folder).read_config().get("data", {}).get("season", 0)
        return cls(*load_forecaster(folder), season)

    def read(
        self, series: Series, channel: int, stop: int | None = None, *, traced: bool = False
    ) -> tuple[Forecast, Trace]:
        """The forecast of one channel from row ``stop`` on, its end if not given; and what was
        noted, every step of it if ``traced``."""
        config = self.model.config
        past, start = self._window(series, channel, stop)
        known, future = config.pieces
        read = spans(series, channel, start, [config.patch] * known)
        all_pieces = spans(series, channel, start, [config.patch] * (known + future)).pieces
        only = None if traced else ("attention", "weights")
        with torch.no_grad(), record(config.model, all_pieces.labels, only=only) as trace:
            said = self.model(torch.from_numpy(past).float().unsqueeze(0))[0]
        season = self.season or series.clock.season
        others = replace(self.baselines, season=season).say(past[np.newaxis])
        found = Forecast(
            config.model,
            read,
            said.double().numpy(),
            {name: values[0] for name, values in others.items()},
            _weights(trace, known),
            config.patch,
        )
        return found, trace

    def all_channels(self, series: Series, stop: int | None = None) -> Numbers:
        """The forecasts (horizon, channels) of every channel."""
        pasts = [self._window(series, i, stop)[0] for i in range(len(series.channels))]
        with torch.no_grad():
            said = self.model(torch.from_numpy(np.stack(pasts)).float())
        found: Numbers = said.double().numpy().T
        return found

    def _window(self, series: Series, channel: int, stop: int | None) -> tuple[Numbers, int]:
        stop = len(series) if stop is None else stop
        start = stop - self.model.config.context
        if start < 0:
            raise DataError(
                f"the model reads {self.model.config.context} steps before a forecast, and there "
                f"are {stop}: give a longer series, or a later --at"
            )
        past: Numbers = series.values[start:stop, channel]
        return past, start


def _weights(trace: Trace, known: int) -> NDArray[np.float32]:
    """(layers, heads, future, past) of what the model noted."""
    layers = [heads[:, known:, :known] for heads in attention_layers(trace)]
    return np.array(layers, np.float32) if layers else np.zeros((0, 1, 0, known), np.float32)
