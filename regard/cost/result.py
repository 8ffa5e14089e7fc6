"""Result: the numbers that were measured, and the power of n that fits them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import linear_regression
from typing import Any

from regard.cost.mechanisms import Mechanism
from regard.cost.setting import Setting

QUESTION = "What is the time and memory complexity of self-attention?"


def exponent(lengths: Sequence[int], amounts: Sequence[float]) -> float:
    """p of the amount ~ n^p that fits best: the slope of log(amount) over log(n), least squares.

    Only the upper part of the lengths is fitted (see :func:`upper`).
    """
    part = slice(len(lengths) - upper(lengths), None)
    logs = [math.log(n) for n in lengths[part]], [math.log(a) for a in amounts[part]]
    return linear_regression(*logs).slope


def upper(lengths: Sequence[int]) -> int:
    """How many of the lengths, from the longest down, are fitted: half, at least two.

    At short lengths the fixed cost of a call hides how the cost grows.
    """
    return max(2, math.ceil(len(lengths) / 2))


@dataclass(frozen=True)
class Cost:
    """What one mechanism took: best seconds and peak bytes, one for each length."""

    mechanism: Mechanism
    lengths: tuple[int, ...]
    seconds: tuple[float, ...]
    bytes: tuple[int, ...]

    @property
    def time_exponent(self) -> float:
        return exponent(self.lengths, self.seconds)

    @property
    def memory_exponent(self) -> float:
        return exponent(self.lengths, self.bytes)

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.mechanism.name,
            "time_formula": self.mechanism.time_formula,
            "memory_formula": self.mechanism.memory_formula,
            "sequential_steps": self.mechanism.sequential_steps,
            "seconds": list(self.seconds),
            "bytes": list(self.bytes),
            "time_exponent": self.time_exponent,
            "memory_exponent": self.memory_exponent,
        }


@dataclass(frozen=True)
class Costs:
    """One run: the setting, the lengths, and each mechanism's cost."""

    setting: Setting
    lengths: tuple[int, ...]
    rounds: int
    """Rounds of timing that were run: fewer than asked for if the budget ended first."""
    threads: int
    mechanisms: tuple[Cost, ...]

    @property
    def fitted(self) -> tuple[int, ...]:
        """The lengths that the exponents are fitted to."""
        return self.lengths[-upper(self.lengths) :]

    def to_json(self) -> dict[str, Any]:
        return {
            "question": QUESTION,
            "width": self.setting.width,
            "heads": self.setting.heads,
            "neighbours": self.setting.neighbours,
            "threads": self.threads,
            "rounds": self.rounds,
            "lengths": list(self.lengths),
            "fitted_lengths": list(self.fitted),
            "mechanisms": [cost.to_json() for cost in self.mechanisms],
        }
