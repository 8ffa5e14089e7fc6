"""The optimizer: step sizes by hand, and a state that another one goes on with."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from regard.errors import FileError
from regard.train.config import TrainConfig
from regard.train.run.optimizer import (
    learning_rate,
    make_optimizer,
    optimizer_state,
    set_optimizer_state,
)


def test_warmup_then_inverse_square_root() -> None:
    config = TrainConfig(learning_rate=0.8, warmup=100)
    assert learning_rate(config, 1, 0) == pytest.approx(0.008)
    assert learning_rate(config, 50, 0) == pytest.approx(0.4)
    assert learning_rate(config, 100, 0) == pytest.approx(0.8)
    assert learning_rate(config, 400, 0) == pytest.approx(0.4)


def test_cosine_ends_at_zero() -> None:
    config = TrainConfig(learning_rate=0.8, warmup=1, schedule="cosine", steps=10)
    assert [learning_rate(config, 9, d) for d in (0, 0.5, 1)] == pytest.approx([0.8, 0.4, 0])


def test_cooldown() -> None:
    config = TrainConfig(learning_rate=0.8, warmup=0, schedule="constant", cooldown=0.2, steps=10)
    rates = [learning_rate(config, 9, done) for done in (0.5, 0.8, 0.9, 1.0)]
    assert rates == pytest.approx([0.8, 0.8, 0.4, 0.0])


def test_adafactors_own_bound() -> None:
    """What the log calls the rate is what the optimizer steps by: 1 / sqrt(step) at most."""
    config = TrainConfig(optimizer="adafactor", learning_rate=0.8, warmup=0, schedule="constant")
    assert [learning_rate(config, step, 0) for step in (1, 4, 100)] == [0.8, 0.5, 0.1]
    model, bound = nn.Linear(1, 1, bias=False), []
    for rate in (0.8, 0.5):
        with torch.no_grad():
            model.weight.fill_(2.0)
        optimizer = make_optimizer(model, config)
        optimizer.param_groups[0]["lr"] = rate
        for _ in range(4):
            optimizer.zero_grad()
            model(torch.ones(1, 1)).sum().backward()
            before = model.weight.item()
            optimizer.step()
        bound.append(1 - model.weight.item() / before)
    assert bound == pytest.approx([0.5, 0.5])


def stepped(model: nn.Linear, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    model(torch.ones(1, 3)).square().sum().backward()
    optimizer.step()


MEMORY: dict[str, dict[str, tuple[str, ...]]] = {
    "adamw": {
        "weight": ("step", "exp_avg", "exp_avg_sq"),
        "bias": ("step", "exp_avg", "exp_avg_sq"),
    },
    "adafactor": {"weight": ("step", "row_var", "col_var"), "bias": ("step", "variance")},
    "sgd": {"weight": ("momentum_buffer",), "bias": ("momentum_buffer",)},
}


def test_momentum_by_hand() -> None:
    model = nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        model.weight.fill_(2.0)
    optimizer = make_optimizer(model, TrainConfig(optimizer="sgd", learning_rate=0.1, beta1=0.5))
    for expected in (1.9, 1.75):  # the slope is 1: steps of .1 and of .1 · 1.5
        optimizer.zero_grad()
        model(torch.ones(1, 1)).sum().backward()
        optimizer.step()
        assert float(model.weight.detach()) == pytest.approx(expected)


@pytest.mark.parametrize("name", MEMORY)
def test_another_optimizer_goes_on_with_the_state(name: str) -> None:
    one, other = nn.Linear(3, 2), nn.Linear(3, 2)
    config = TrainConfig(optimizer=name)  # type: ignore[arg-type]
    first, second = (make_optimizer(model, config) for model in (one, other))
    stepped(one, first)
    other.load_state_dict(one.state_dict())
    state = {name: value.clone() for name, value in optimizer_state(first, one).items()}
    assert state.keys() == {f"{w}/{key}" for w, keys in MEMORY[name].items() for key in keys}
    set_optimizer_state(second, other, state)
    for model, optimizer in ((one, first), (other, second)):
        stepped(model, optimizer)
    assert torch.equal(one.weight, other.weight)
    with pytest.raises(FileError, match="has a strange 'wait'"):
        set_optimizer_state(second, other, {"wait/exp_avg": torch.ones(2, 3)})
