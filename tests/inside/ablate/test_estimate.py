"""One backward pass: the slope of the metric along each head."""

from __future__ import annotations

from typing import Any

import pytest
import torch

import regard
from regard.inside.ablate.ablate import ablate
from regard.inside.ablate.estimate import estimated
from regard.inside.ablate.request import AblationRequest
from regard.inside.ablate.variant import HeadAt


def test_the_estimate_is_the_slope_towards_zero(trials: dict[str, Any]) -> None:
    trial, step = trials["Llama"], 1e-3
    base, changes = estimated(trial, "logprob")
    assert len(changes) == 8
    values = []
    for scale in (1 + step, 1 - step):
        with torch.inference_mode(), regard.intervene(trial.network) as hands:
            hands.scale(layer=0, head=2, by=scale)
            output = trial.run(1)
        values.append(float(trial.measured(output, "logprob").base))
    slope = (values[1] - values[0]) / (2 * step)
    assert changes[HeadAt("self", 0, 2)] == pytest.approx(slope, rel=0.05, abs=2e-3)
    assert all(p.requires_grad for p in trial.network.parameters())
    assert base == pytest.approx(float(trial.measured(output, "logprob").base), rel=0.1)


def test_beside_the_measured_ones(trials: dict[str, Any]) -> None:
    found = ablate(trials["Llama"], AblationRequest(estimate=True))
    assert found.estimate is not None
    assert found.estimate.sample == len(found.effects) == 8
    assert found.estimate.correlation is not None
    assert "estimate" in found.to_json()


def test_the_cosine_has_no_slope(trials: dict[str, Any]) -> None:
    with pytest.raises(regard.RegardError, match="at its highest where nothing is changed"):
        estimated(trials["Llama"], "cosine")
