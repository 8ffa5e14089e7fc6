"""Find rate: which step sizes a model can be trained with, tried before a run (Smith 2017).

The step size rises from update to update by the same factor. The loss stands still while it is too
small, falls, and rises when it is too large. A tenth of the rate at which the loss was the lowest
is a careful choice for the highest rate of a run.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch
from torch import nn

from regard.errors import ConfigError, TrainingError
from regard.train.config import TrainConfig
from regard.train.run.freeze import freeze
from regard.train.run.optimizer import bounded, make_optimizer
from regard.train.run.state import seed_all
from regard.train.settings import Tree
from regard.train.tasks.job import Config, Corpus, Data, Job, Model, Read
from regard.train.tasks.task import Task

LOW, HIGH = 1e-6, 1.0
UPDATES = 100
KEPT = 0.8
"""Of the mean of the losses so far, at each update: batches differ, the mean less."""
TOO_MUCH = 2.0
"""So many times the lowest loss, and it is enough."""


@dataclass(frozen=True)
class TriedRate:
    """One update of the search."""

    rate: float
    loss: float
    """Per token; the mean of the last few updates."""


@dataclass(frozen=True)
class FoundRate:
    """What the search gives."""

    trials: list[TriedRate]

    @property
    def lowest(self) -> TriedRate:
        """The update with the lowest loss."""
        return min(self.trials, key=lambda trial: trial.loss)

    @property
    def rate(self) -> float:
        """The highest learning rate to train with: one digit of a tenth of the lowest loss's."""
        return float(f"{self.lowest.rate / 10:.0e}")


def find_rate(
    job: Job[Data, Read, Corpus, Config, Model], settings: Tree, note: Callable[[str], None]
) -> FoundRate:
    """Search with the model, data and optimizer of ``settings``; nothing is written."""
    chosen = job.settle(settings)
    if chosen.train.start:
        raise ConfigError("--find-rate begins with fresh weights: leave --from (train.start) out")
    if chosen.train.threads:
        torch.set_num_threads(chosen.train.threads)
    read = job.read(chosen.data)
    corpus = job.encode(read, job.learn(read, chosen.data), chosen.data)
    for line in job.notes(corpus, chosen.data):
        note(line)
    seed_all(chosen.train.seed)
    model = job.build(job.shaped(chosen.model, job.decided(corpus)))
    job.prepare(model, corpus, chosen.data, note)
    if still := freeze(model, chosen.train.freeze):
        note(still)
    return search(job.make_task(model, corpus, chosen), chosen.train)


def search(task: Task, config: TrainConfig) -> FoundRate:
    """Train ``task`` with rising step sizes until the loss has risen, or all were tried."""
    optimizer = make_optimizer(task.model, config)
    task.model.train()
    trials: list[TriedRate] = []
    mean, batches = 0.0, _batches(task)
    for number in range(UPDATES):
        rate = bounded(config, number + 1, LOW * (HIGH / LOW) ** (number / (UPDATES - 1)))
        loss = _update(task, optimizer, next(batches), rate, config)
        mean = KEPT * mean + (1 - KEPT) * loss
        smooth = mean / (1 - KEPT ** (number + 1))  # the mean began at 0
        if not math.isfinite(smooth):
            break
        trials.append(TriedRate(rate, smooth))
        if smooth > TOO_MUCH * min(trial.loss for trial in trials):
            break
    if not trials:
        raise TrainingError("the loss is not a finite number before the first step: no rate helps")
    return FoundRate(trials)


def _batches(task: Task) -> Iterator[list[int]]:
    epoch = 0
    while True:
        yield from task.batches(epoch)
        epoch += 1


def _update(
    task: Task,
    optimizer: torch.optim.Optimizer,
    rows: list[int],
    rate: float,
    config: TrainConfig,
) -> float:
    """One step; the loss per token before it."""
    for group in optimizer.param_groups:
        group["lr"] = rate
    optimizer.zero_grad()
    with torch.autocast("cpu", torch.bfloat16, enabled=config.precision == "bfloat16"):
        loss = task.loss(rows, config.smoothing) / task.targets(rows)
    loss.backward()
    nn.utils.clip_grad_norm_(task.model.parameters(), config.clip or math.inf)
    optimizer.step()
    return float(loss.detach())


def format_found(found: FoundRate, rows: int = 14) -> str:
    """A line for some of the rates, its loss as a bar, and the choice."""
    step = max(1, len(found.trials) // rows)
    shown = sorted({*range(0, len(found.trials), step), found.trials.index(found.lowest)})
    top = max(trial.loss for trial in found.trials)
    lines = ["     rate   loss"]
    for number in shown:
        trial = found.trials[number]
        mark = "  lowest" if trial is found.lowest else ""
        bar = "█" * round(40 * trial.loss / top)
        lines.append(f"{trial.rate:9.1e} {trial.loss:6.3f}  {bar}{mark}")
    if found.lowest is found.trials[-1]:
        lines.append("the loss was still falling at the last rate that was tried")
    lines.append(
        f"try --learning-rate {found.rate:g}: a tenth of the rate with the lowest loss, for the "
        "end of a warm-up"
    )
    return "\n".join(lines)
