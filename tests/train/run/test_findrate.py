"""The search for a learning rate: rates by hand, its end, its choice."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise

import pytest
import torch
from torch import Tensor, nn

from regard.errors import TrainingError
from regard.train.config import TrainConfig
from regard.train.run.findrate import FoundRate, TriedRate, format_found, search


class Valley:
    """loss = slope · |w|: a step of gradient descent falls by its rate until it jumps over 0."""

    score, higher = "none", False

    def __init__(self, start: float) -> None:
        self.model = nn.Linear(1, 1, bias=False)
        with torch.no_grad():
            self.model.weight.fill_(start)

    def batches(self, epoch: int) -> list[list[int]]:
        return [[0], [1, 2]]

    def targets(self, rows: list[int]) -> int:
        return len(rows)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return len(rows) * self.model.weight.abs().sum()

    def validation_loss(self, rows: list[int]) -> Tensor:
        return self.loss(rows, 0.0)

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        return {"loss": float(forward([0]))}


def test_rates_rise_by_one_factor_and_the_search_ends_when_the_loss_has_risen() -> None:
    config = TrainConfig(optimizer="sgd", beta1=0.0, clip=0.0)
    found = search(Valley(0.05), config)
    rates = [trial.rate for trial in found.trials]
    assert rates[0] == pytest.approx(1e-6)
    factors = {round(b / a, 9) for a, b in pairwise(rates)}
    assert factors == {round(1e6 ** (1 / 99), 9)}
    assert len(rates) < 100, "it jumped over the valley and out of it"
    assert found.trials[0].loss == pytest.approx(0.05)
    assert found.lowest.loss < 0.05
    assert found.trials[-1].loss > 2 * found.lowest.loss


def test_a_loss_that_only_falls_is_followed_to_the_end() -> None:
    found = search(Valley(100.0), TrainConfig(optimizer="sgd", beta1=0.0, clip=0.0))
    assert len(found.trials) == 100
    assert found.trials[-1].rate == pytest.approx(1.0)


def test_no_rate_helps_a_loss_that_is_no_number() -> None:
    with pytest.raises(TrainingError, match="not a finite number before the first step"):
        search(Valley(math.nan), TrainConfig())


def test_the_choice_is_one_digit_of_a_tenth() -> None:
    found = FoundRate([TriedRate(1e-3, 4.0), TriedRate(4.6e-2, 1.0), TriedRate(0.1, 8.0)])
    assert found.rate == 5e-3
    lines = format_found(found).splitlines()
    assert lines[2] == "  4.6e-02  1.000  █████  lowest"
    assert lines[3].count("█") == 40
    assert lines[-1].startswith("try --learning-rate 0.005: ")
    assert max(map(len, lines)) <= 100
    falling = "the loss was still falling at the last rate that was tried"
    assert falling not in lines
    assert falling in format_found(FoundRate(found.trials[:2]))
