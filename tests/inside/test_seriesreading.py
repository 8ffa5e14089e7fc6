"""A forecaster reads a series: its own forecast, and the weights of the future to the past."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from regard.errors import DataError
from regard.inside.seriesreading import SeriesReader
from regard.models.baselines import Baselines
from regard.models.design import DESIGNS
from regard.models.forecaster import Forecaster, sized_forecaster
from regard.pieces.clock import read_clock
from regard.pieces.series import Series
from regard.store.folder import BASELINES, RunFolder

CHANCE = np.random.default_rng(3)
SERIES = Series(
    read_clock([str(i) for i in range(31)], "t"), ["a", "b"], CHANCE.normal(size=(31, 2))
)


def reader(model: str) -> SeriesReader:
    torch.manual_seed(5)
    config = sized_forecaster(model, "tiny", context=12, horizon=6, patch=3)
    return SeriesReader(Forecaster(config).eval(), Baselines(4, np.zeros((12, 6))), 4)


@pytest.mark.parametrize("model", DESIGNS)
def test_the_model_s_own_forecast_and_its_weights(model: str) -> None:
    made = reader(model)
    found, _ = made.read(SERIES, 1, 20)
    with torch.no_grad():
        expected = made.model(torch.tensor(SERIES.values[8:20, 1]).float()[None])[0]
    assert found.said == pytest.approx(expected.numpy(), abs=1e-5)
    assert found.past.rows == (8, 20)
    assert found.came.tolist() == SERIES.values[20:26, 1].tolist()
    assert found.other["last"].tolist() == [SERIES.values[19, 1]] * 6
    attends = {"transformer": (2, 4), "simple-rnn+attention": (1, 1), "lstmn": (1, 1)}
    if model not in attends:
        assert found.looked() is None
        return
    assert found.weights.shape == (*attends[model], 2, 4)
    assert (found.weights >= 0).all()
    assert (found.weights.sum(-1) <= 1 + 1e-5).all()
    if model == "lstmn":  # the first future step sees the past alone
        assert found.weights[0, 0, 0].sum() == pytest.approx(1, abs=1e-5)


def test_all_channels_at_the_end() -> None:
    made = reader("transformer")
    every = made.all_channels(SERIES)
    assert every.shape == (6, 2)
    for channel in (0, 1):
        assert made.read(SERIES, channel)[0].said == pytest.approx(every[:, channel], abs=1e-5)
    assert made.read(SERIES, 0)[0].times[0] == "31"


def test_too_short_a_past() -> None:
    with pytest.raises(DataError, match="reads 12 steps before a forecast, and there are 5"):
        reader("lstm").read(SERIES, 0, 5)


def test_loaded_from_a_folder(tmp_path: Path) -> None:
    made = reader("lstm")
    RunFolder(tmp_path).write_config({"task": "forecast", "model": made.model.config.to_dict()})
    save_file(made.model.state_dict(), tmp_path / "model.safetensors")
    (tmp_path / BASELINES).write_text(made.baselines.to_text())
    again = SeriesReader.load(str(tmp_path))
    assert again.read(SERIES, 0)[0].said.tolist() == made.read(SERIES, 0)[0].said.tolist()
    assert again.baselines.season == 4
