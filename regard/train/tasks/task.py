"""Task: what is trained, as the loop sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Protocol, runtime_checkable

from torch import Tensor, nn


class Task(Protocol):
    """What the loop must know of a task; a translator, a language model, a classifier are one."""

    score: str
    """The name of the validation score, such as BLEU."""
    higher: bool
    """Whether a higher score is the better one."""

    @property
    def model(self) -> nn.Module:
        """What is trained."""

    def batches(self, epoch: int) -> list[list[int]]:
        """The examples of each batch of a pass, decided by (seed, epoch) alone."""

    def targets(self, rows: list[int]) -> int:
        """How many tokens (or labels) the loss of these examples is a sum over."""

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        """The sum of the losses of these training examples."""

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        """ "loss" per token over the validation part and, if ``decode``, "score".

        ``forward`` calls :meth:`validation_loss` through the module that holds the weights.
        """

    def validation_loss(self, rows: list[int]) -> Tensor:
        """The sum of the losses of these validation examples."""


@runtime_checkable
class Carrying(Protocol):
    """A task whose batches depend on those before them: what it carries over is saved too."""

    def carried(self) -> dict[str, Tensor]:
        """What the next batch will need of the last one."""

    def carry(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on with what :meth:`carried` gave."""


@runtime_checkable
class Showing(Protocol):
    """A task that can show what its model does, not only how well."""

    def samples(self) -> list[dict[str, str]]:
        """Of the last evaluation, of the same few validation examples each time: what was given
        (``source``), what is right (``reference``) and what the model ``said``."""


class Criterion(nn.Module):
    """A task's losses as a module's forward, which is where DDP and FSDP2 hook in."""

    def __init__(self, task: Task) -> None:
        super().__init__()
        self.model = task.model
        self.task = task

    def forward(self, rows: list[int], smoothing: float | None = None) -> Tensor:
        if smoothing is None:
            return self.task.validation_loss(rows)
        return self.task.loss(rows, smoothing)
