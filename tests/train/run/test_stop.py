"""When a run ends: limits by hand, and Ctrl-C as a wish."""

from __future__ import annotations

import os
import signal

import pytest

from regard.train.config import TrainConfig
from regard.train.run.state import RunState
from regard.train.run.stop import finished, share_done, stopping


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


def test_the_first_signal_asks_and_the_second_ends() -> None:
    before = signal.getsignal(signal.SIGINT)
    with stopping() as asked:
        os.kill(os.getpid(), signal.SIGINT)
        assert asked.wait(5)
        assert signal.getsignal(signal.SIGINT) is before, "the second one ends the process"
    assert signal.getsignal(signal.SIGINT) is before
