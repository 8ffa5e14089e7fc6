"""Sampling: draw the next token by its probability, in place of taking the likeliest.

    p = softmax(logits / temperature)
    top-p: only the likeliest tokens that together have the probability top_p, the one that
    reaches it included (nucleus sampling, Holtzman et al. 2020)

Each text draws its own chance from (seed, its number, its sample): which others are in the batch
changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from regard.errors import ConfigError


@dataclass(frozen=True)
class Sampling:
    """How tokens are drawn."""

    temperature: float = 1.0
    """Under 1 the likely become likelier, over 1 all become more alike."""
    top_p: float = 1.0
    """The probability of the tokens that are drawn from; 1 = all."""
    seed: int = 0

    def __post_init__(self) -> None:
        problems = []
        if not 0 < self.temperature < math.inf:
            problems.append(
                f"temperature must be greater than 0, got {self.temperature} "
                "(the likeliest token at each step is what is found without sampling)"
            )
        if not 0 < self.top_p <= 1:
            problems.append(f"top_p must be greater than 0 and at most 1, got {self.top_p}")
        if self.seed < 0:
            problems.append(f"seed must be 0 or more, got {self.seed}")
        if problems:
            raise ConfigError("; ".join(problems))

    def draw(self, logits: Tensor, chance: Tensor) -> Tensor:
        """A token (N,) for each row of ``logits`` (N, V); ``chance`` (N,) is from 0 to under 1.

        Tokens lie side by side, the likeliest first, each as wide as its probability; the one at
        the place ``chance`` of all that may be drawn is taken.
        """
        below = logits.double() - logits.amax(-1, keepdim=True)  # 0 for the likeliest, however cold
        p, order = (below / self.temperature).softmax(-1).sort(-1, descending=True)
        reached = p.cumsum(-1)
        p = p.masked_fill(reached - p >= self.top_p, 0.0)
        reached = p.cumsum(-1)
        place = (chance.unsqueeze(-1) * reached[:, -1:]).to(reached.dtype)
        column = torch.searchsorted(reached, place, right=True)
        last = (p > 0).sum(-1, keepdim=True) - 1  # rounding may put the place on the far edge
        return order.gather(-1, column.minimum(last)).squeeze(-1)

    def chances(self, numbers: Iterable[int], samples: int) -> list[np.random.Generator]:
        """A source of chance for each of the ``samples`` of each text, by the texts' numbers."""
        return [
            np.random.default_rng((self.seed, number, sample))
            for number in numbers
            for sample in range(samples)
        ]
