"""What a long text will take, by its beginnings: clocks and memory that a test can know."""

from __future__ import annotations

import time

import pytest
import torch

import regard.cost.estimate as module
from regard.cost.estimate import LONGER, SHORT, Estimate, estimate
from regard.errors import RegardError


def test_each_token_and_each_pair_take_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now, tried = 0.0, []

    def run(n: int) -> torch.Tensor:
        nonlocal now
        tried.append(n)
        now += 0.002 * n + 0.00001 * n * n
        return torch.zeros(1000 + 7 * n)

    monkeypatch.setattr(time, "perf_counter", lambda: now)
    found = estimate(run, 5000)
    assert tried == [SHORT, SHORT, LONGER], "the first run loads code, and is no measure"
    assert found.seconds == pytest.approx(0.002 * 5000 + 0.00001 * 5000**2)
    assert found.bytes == pytest.approx(4 * (1000 + 7 * 5000), rel=1e-3)
    several = estimate(run, 5000, times=3.5)
    assert several.seconds == pytest.approx(3.5 * found.seconds)
    assert several.bytes == pytest.approx(found.bytes, rel=1e-3)


def test_in_words() -> None:
    assert str(Estimate(150, 2e9)) == "about 2 min 30 s and 2 GB of memory beyond the model"
    assert str(Estimate(3.2, 5e6)) == "about 3 s and 5 MB of memory beyond the model"


def test_more_than_there_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "available_memory", lambda: 1e9)
    Estimate(1, 9e8).check()
    with pytest.raises(RegardError, match="about 2 GB of memory and 1 GB are available; give a sh"):
        Estimate(1, 2e9).check()
    monkeypatch.setattr(module, "available_memory", lambda: None)
    Estimate(1, 2e9).check()
