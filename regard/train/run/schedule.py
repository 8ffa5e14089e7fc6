"""Schedule: the step size of each update."""

from __future__ import annotations

import math

from regard.train.config import TrainConfig


def learning_rate(config: TrainConfig, step: int, done: float) -> float:
    """The step size of update ``step`` (from 1) when the share ``done`` of the run is over.

    warm-up        peak · step / warmup                       while step < warmup
    inverse-sqrt   peak · sqrt(warmup / step)                 (Vaswani et al. 2017, 5.3)
    cosine         peak · (1 + cos(π · done)) / 2
    cool-down      times (1 − done) / cooldown                in the last share of the run
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
    return rate
