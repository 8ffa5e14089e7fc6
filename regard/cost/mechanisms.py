"""Mechanisms: the four ways to let n positions of width d know of each other, and their formulas.

    self-attention   every position looks at every other         n² scores of d products each
    windowed         every position looks at r neighbours        r n scores
    recurrence       one position after the other, d × d weights n steps

Attention is measured without its projections (W_Q, W_K, W_V, W_O: O(n d²) more, with or without a
window), as in table 1 of Vaswani et al. 2017; the recurrent layer includes its input weights.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from regard.attention import attend, window
from regard.attention.kernel.library import SWITCH
from regard.cost.setting import Setting

Run = Callable[[], object]


@dataclass(frozen=True)
class Mechanism:
    """One way, with what theory says of it; ``prepare(n, setting)`` gives a call to measure."""

    letter: str
    name: str
    time_formula: str
    memory_formula: str
    sequential_steps: str
    time_power: int
    """The power of n in the time formula."""
    memory_power: int
    prepare: Callable[[int, Setting], Run]


def _kept(n: int, setting: Setting) -> Run:
    x = _positions(n, setting)
    return lambda: attend(x, x, x, need_weights=True)


def _fused(n: int, setting: Setting) -> Run:
    x = _positions(n, setting)
    return _by_pytorch(lambda: attend(x, x, x))


def _windowed(n: int, setting: Setting) -> Run:
    x, mask = _positions(n, setting), window(min(setting.window, n))
    return _by_pytorch(lambda: attend(x, x, x, mask=mask))


def _by_pytorch(run: Run) -> Run:
    """``run`` without regard's own kernel, whose memory the counter of allocations cannot see.

    Time and memory are then those of one computation.
    """

    def switched() -> object:
        before = os.environ.get(SWITCH)
        os.environ[SWITCH] = "off"
        try:
            return run()
        finally:
            if before is None:
                del os.environ[SWITCH]
            else:
                os.environ[SWITCH] = before

    return switched


def _recurrence(n: int, setting: Setting) -> Run:
    x = torch.zeros(1, n, setting.width)
    with torch.random.fork_rng(devices=[]):  # a library leaves its user's random state alone
        rnn = nn.RNN(setting.width, setting.width, batch_first=True).eval()
        x.normal_()
    return lambda: rnn(x)


def _positions(n: int, setting: Setting) -> Tensor:
    """Random queries, keys and values (batch, head, position, width of a head)."""
    generator = torch.Generator().manual_seed(0)
    return torch.randn(1, setting.heads, n, setting.width // setting.heads, generator=generator)


MECHANISMS = (
    Mechanism("K", "self-attention, weights kept", "O(n² d)", "O(n²)", "1", 2, 2, _kept),
    Mechanism("F", "self-attention, fused", "O(n² d)", "O(n d)", "1", 2, 1, _fused),
    Mechanism("W", "windowed self-attention", "O(r n d)", "O(n d)", "1", 1, 1, _windowed),
    Mechanism("R", "recurrence (tanh RNN)", "O(n d²)", "O(n d)", "n", 1, 1, _recurrence),
)
