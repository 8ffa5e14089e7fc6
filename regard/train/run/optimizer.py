"""Optimizer: Adam or another, its step size at each update, and its state by each weight's name."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn

from regard.errors import FileError
from regard.store.weights import put, whole
from regard.train.config import TrainConfig


def make_optimizer(model: nn.Module, config: TrainConfig) -> torch.optim.Optimizer:
    """AdamW: Adam (Kingma & Ba 2015) with decoupled weight decay, which is 0 by default; or
    Adafactor (Shazeer & Stern 2018), whose memory of a matrix is one row and one column; or
    stochastic gradient descent with momentum."""
    if config.optimizer == "adafactor":
        return torch.optim.Adafactor(
            model.parameters(), lr=config.learning_rate, weight_decay=config.weight_decay
        )
    if config.optimizer == "sgd":
        return torch.optim.SGD(
            model.parameters(),
            lr=config.learning_rate,
            momentum=config.beta1,
            weight_decay=config.weight_decay,
        )
    return torch.optim.AdamW(
        model.parameters(),
        lr=config.learning_rate,
        betas=(config.beta1, config.beta2),
        eps=config.epsilon,
        weight_decay=config.weight_decay,
        fused=not config.sharded,
    )


def learning_rate(config: TrainConfig, step: int, done: float) -> float:
    """The step size of update ``step`` (from 1) when the share ``done`` of the run is over.

    warm-up        peak · step / warmup                       while step < warmup
    inverse-sqrt   peak · sqrt(warmup / step)                 (Vaswani et al. 2017, 5.3)
    cosine         peak · (1 + cos(π · done)) / 2
    cool-down      times (1 − done) / cooldown                in the last share of the run
    Adafactor      at most 1 / sqrt(step), its own bound (Shazeer & Stern 2018)
    """
    peak, warmup = config.learning_rate, max(1, config.warmup)
    rate = peak
    if step < warmup:
        rate = peak * step / warmup
    elif config.schedule == "inverse-sqrt":
        rate = peak * math.sqrt(warmup / step)
    elif config.schedule == "cosine":
        rate = peak * (1 + math.cos(math.pi * min(1.0, done))) / 2
    if config.cooldown and done > 1 - config.cooldown:
        rate *= max(0.0, 1 - done) / config.cooldown
    return bounded(config, step, rate)


def bounded(config: TrainConfig, step: int, rate: float) -> float:
    """The step size that the optimizer really takes at update ``step``."""
    return min(rate, step**-0.5) if config.optimizer == "adafactor" else rate


def optimizer_state(
    optimizer: torch.optim.Optimizer, model: nn.Module, keep: bool = True
) -> dict[str, Tensor]:
    """``{"weight's name/exp_avg": tensor, …}``, whole and on the CPU.

    Every process takes part in gathering it; one that does not ``keep`` it has nothing then.
    """
    gathered = (
        (f"{name}/{key}", whole(value))
        for name, weight in model.named_parameters()
        for key, value in optimizer.state.get(weight, {}).items()
    )
    return {name: value for name, value in gathered if keep}


def set_optimizer_state(
    optimizer: torch.optim.Optimizer, model: nn.Module, state: dict[str, Tensor]
) -> None:
    """Give the optimizer back what :func:`optimizer_state` took."""
    weights = dict(model.named_parameters())
    for full, value in state.items():
        name, _, key = full.rpartition("/")
        if name not in weights:
            raise FileError(f"the checkpoint does not fit this model: it has a strange {name!r}")
        weight = weights[name]
        fused = optimizer.param_groups[0].get("fused")
        count = value.to(weight.device if fused else "cpu") if key == "step" else None
        own = put(weight.data, value) if count is None else count
        optimizer.state[weight][key] = own.clone()  # not the memory of a file that was read
