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


def share_done(config: TrainConfig, step: int, epochs: float, time: float) -> float:
    """How much of the run is over, 0 to 1, by the limit that will be reached first.

    ``time``: the share of ``minutes`` that is over. With ``minutes`` the clock decides, so such a run is not repeatable bit by bit; one with
    ``steps`` or ``epochs`` is.
    """
    shares = [0.0]
    if config.epochs:
        shares.append(epochs / config.epochs)
    if config.steps:
        shares.append(step / config.steps)
    if config.minutes:
        shares.append(time)
    return min(1.0, max(shares))
