"""A task's losses as one module's forward."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn

from regard.train.tasks.task import Criterion


class Counted:
    """Losses that say by which way they were asked for."""

    def __init__(self) -> None:
        self.model = nn.Linear(3, 2)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        return torch.tensor(len(rows) + smoothing)

    def validation_loss(self, rows: list[int]) -> Tensor:
        return torch.tensor(-float(len(rows)))


def test_training_is_smoothed_and_validation_is_not() -> None:
    task: Any = Counted()
    criterion = Criterion(task)
    assert float(criterion([4, 5, 6], 0.5)) == 3.5
    assert float(criterion([4, 5, 6], 0.0)) == 3.0, "a smoothing of 0 is training still"
    assert float(criterion([4, 5, 6])) == -3.0


def test_the_models_parameters_are_its_own() -> None:
    task: Any = Counted()
    assert [p.shape for p in Criterion(task).parameters()] == [(2, 3), (2,)]
