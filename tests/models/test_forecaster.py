"""Forecasters: any unit, equal sizes, every setting checked; the future attends to the past."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from regard.errors import ConfigError
from regard.models.design import DESIGNS
from regard.models.forecaster import (
    ForecastConfig,
    Forecaster,
    parameters,
    sized_forecaster,
    usual_patch,
)
from regard.record import record

SHAPE: dict[str, Any] = {"context": 12, "horizon": 8}


def made(model: str, **own: Any) -> Forecaster:
    torch.manual_seed(3)
    return Forecaster(sized_forecaster(model, "tiny", **(SHAPE | own))).eval()


def test_the_usual_patch() -> None:
    sizes = [(96, 96), (336, 96), (36, 12), (28, 7), (24, 1), (40, 5), (8, 8)]
    assert [usual_patch(*each) for each in sizes] == [12, 16, 4, 1, 1, 5, 1]


@pytest.mark.parametrize("model", DESIGNS)
def test_a_forecast_follows_its_series_into_any_unit(model: str) -> None:
    forecaster = made(model)
    past = torch.randn(5, 12, dtype=torch.float64).float()
    said = forecaster(past)
    assert said.shape == (5, 8)
    torch.testing.assert_close(forecaster(3 * past + 7), 3 * said + 7, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("model", DESIGNS)
def test_windows_do_not_see_each_other_and_a_flat_one_is_a_number(model: str) -> None:
    forecaster = made(model)
    past = torch.randn(3, 12)
    torch.testing.assert_close(forecaster(past)[1:2], forecaster(past[1:2]), rtol=1e-4, atol=1e-5)
    assert forecaster(torch.full((1, 12), 5.0)).isfinite().all()


def test_the_loss_is_the_sum_of_the_mean_squares() -> None:
    forecaster = made("transformer")
    past, right = torch.randn(3, 12), torch.randn(3, 8)
    said = forecaster(past).detach()
    expected = sum(float(((said[i] - right[i]) ** 2).sum()) / 8 for i in range(3))
    assert float(forecaster.loss(past, right).detach()) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("size", ["tiny", "small", "base"])
@pytest.mark.parametrize("model", [name for name in DESIGNS if name != "transformer"])
def test_designs_of_one_size_have_as_many_parameters(model: str, size: str) -> None:
    transformer, other = (
        parameters(sized_forecaster(name, size, context=96, horizon=96))
        for name in ("transformer", model)
    )
    assert 0.93 < other / transformer <= 1


def test_recurrent_designs_read_step_by_step_unless_told() -> None:
    assert sized_forecaster("lstm", "tiny", **SHAPE).pieces == (12, 8)
    assert sized_forecaster("lstm", "tiny", **SHAPE, patch=4).pieces == (3, 2)
    assert sized_forecaster("lstm", "tiny", **SHAPE, hidden=13).hidden == 13


def test_attention_of_the_future_is_noted() -> None:
    forecaster = made("transformer", patch=4)
    with record("transformer", [str(i) for i in range(5)]) as trace, torch.no_grad():
        said = forecaster(torch.randn(1, 12))
    weights = [step for step in trace if step.path.endswith("self-attention/weights")]
    assert [step.value.shape for step in weights] == [(1, 4, 5, 5)] * 2
    assert trace["forecast"].value == pytest.approx(said.numpy())


@pytest.mark.parametrize(
    ("own", "said"),
    [
        ({"patch": 5}, "patch must divide context and horizon, 12 and 8; got 5"),
        ({"patch": 0}, "patch must be a whole number of at least 1, got 0"),
        ({"context": 0}, "context must be a whole number of at least 1"),
        ({"hidden": 3}, "transformer has no hidden"),
        ({"heads": 5}, "heads must divide width"),
    ],
)
def test_refused(own: dict[str, Any], said: str) -> None:
    base = sized_forecaster("transformer", "tiny", **SHAPE).to_dict()
    with pytest.raises(ConfigError) as caught:
        ForecastConfig(**(base | own))
    assert said in str(caught.value)
    assert str(caught.value).startswith("a forecaster's settings do not fit")


def test_a_config_and_back() -> None:
    for model in DESIGNS:
        config = sized_forecaster(model, "tiny", **SHAPE)
        assert ForecastConfig.from_dict(config.to_dict()) == config
