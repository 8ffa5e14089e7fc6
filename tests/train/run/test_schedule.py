"""Step sizes and limits, computed by hand."""

from __future__ import annotations

import pytest

from regard.train.config import TrainConfig
from regard.train.run.checkpoint import RunState
from regard.train.run.limits import finished, share_done
from regard.train.run.schedule import learning_rate


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


def test_share_done_is_of_the_nearest_limit() -> None:
    state = RunState(step=25, seconds=30)
    assert share_done(TrainConfig(), state, 3) == 0
    assert share_done(TrainConfig(steps=100, epochs=10), state, 3) == pytest.approx(0.3)
    assert share_done(TrainConfig(steps=50, epochs=10), state, 3) == pytest.approx(0.5)
    # Of one minute, 2 % are kept for the last validation; of a slow one, twice its time.
    assert share_done(TrainConfig(minutes=1), state, 3) == pytest.approx(30 / 58.8)
    state.validation_seconds = 5
    assert share_done(TrainConfig(minutes=1), state, 3) == pytest.approx(30 / 50)


def test_finished() -> None:
    assert finished(TrainConfig(epochs=2), RunState(epoch=1)) == ""
    assert finished(TrainConfig(epochs=2), RunState(epoch=2)) == "epochs"
    assert finished(TrainConfig(steps=5), RunState(step=5)) == "steps"
    assert finished(TrainConfig(minutes=1), RunState(seconds=59)) == "minutes"
    assert finished(TrainConfig(patience=3), RunState(waited=3)) == "patience"
