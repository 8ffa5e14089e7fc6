"""Measuring: what comes out, what is refused before it starts."""

import math
from typing import Any

import pytest
import torch

from regard.cost.measurement import measure
from regard.cost.result import Costs
from regard.cost.setting import Setting
from regard.errors import RegardError


@pytest.fixture(scope="module")
def costs() -> Costs:
    """Lengths far enough apart for n² to show through any noise."""
    return measure((64, 512, 2048), Setting(width=16, window=16), repeats=2)


def test_each_mechanism_has_a_time_and_a_size_for_each_length(costs: Costs) -> None:
    assert [cost.mechanism.letter for cost in costs.mechanisms] == ["K", "F", "W", "R"]
    for cost in costs.mechanisms:
        assert len(cost.seconds) == len(cost.bytes) == 3
        assert all(seconds > 0 for seconds in cost.seconds)
        assert cost.bytes[0] < cost.bytes[-1]
    assert costs.rounds in (1, 2)


def test_quadratic_attention_overtakes_windowed_attention(costs: Costs) -> None:
    kept, _, windowed, _ = costs.mechanisms
    assert kept.seconds[-1] > windowed.seconds[-1]
    assert kept.time_exponent > windowed.time_exponent
    assert kept.memory_exponent > 1.8


def test_measuring_leaves_threads_gradients_and_random_state_alone() -> None:
    threads, state = torch.get_num_threads(), torch.get_rng_state()
    measure((2, 4), Setting(width=4), repeats=1)
    assert torch.get_num_threads() == threads
    assert torch.is_grad_enabled()
    assert torch.equal(torch.get_rng_state(), state)


def test_progress_rises_from_0_to_below_1() -> None:
    told: list[tuple[float, str]] = []
    measure((2, 4), Setting(width=4), repeats=2, progress=lambda *now: told.append(now))
    shares = [share for share, _ in told]
    assert shares == sorted(shares)
    assert shares[0] == 0
    assert shares[-1] < 1
    assert told[0][1] == "memory, n = 2"
    assert told[-1][1] == "time, round 2 of 2"


def test_no_new_round_once_the_budget_is_spent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("regard.cost.measurement.check_time", lambda *_: None)
    assert measure((2, 4), Setting(width=4), repeats=1000, budget=1e-9).rounds == 1


@pytest.mark.parametrize(
    ("lengths", "text"),
    [
        ((), "an exponent needs two lengths or more, got none"),
        ((5,), "an exponent needs two lengths or more, got 5"),
        ((0, 4), "a length must be 1 or more, got 0"),
        ((4, 4), "the lengths must increase, got 4,4"),
    ],
)
def test_lengths_that_cannot_be_fitted(lengths: tuple[int, ...], text: str) -> None:
    with pytest.raises(RegardError) as error:
        measure(lengths, Setting())
    assert str(error.value) == text


@pytest.mark.parametrize("effort", [{"repeats": 0}, {"budget": math.nan}, {"threads": 0}])
def test_efforts_that_cannot_be(effort: dict[str, Any]) -> None:
    with pytest.raises(RegardError, match=r"must be (more|1)"):
        measure((2, 4), Setting(), **effort)
