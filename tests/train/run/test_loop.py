"""The loop with a task small enough to compute by hand: one weight, pulled to a target."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from regard.errors import TrainingError
from regard.store.folder import RunFolder
from regard.train.config import TrainConfig
from regard.train.run.checkpoint import Checkpoints
from regard.train.run.log import read_log
from regard.train.run.loop import Loop
from regard.train.run.progress import Outcome, Progress, ProgressLines


class Pull:
    """loss(w) = sum over rows of (w - row)^2 / 2: the gradient of the mean is w - mean(rows)."""

    score = "score"
    higher = True

    def __init__(self, scores: list[float] | None = None, bad: int | None = None) -> None:
        self.model = nn.Linear(1, 1, bias=False)
        nn.init.zeros_(self.model.weight)
        self.scores = scores
        self.bad = bad
        self.seen: list[list[int]] = []

    def batches(self, epoch: int) -> list[list[int]]:
        return [[1, 3], [5]]

    def targets(self, rows: list[int]) -> int:
        return len(rows)

    def loss(self, rows: list[int], smoothing: float) -> Tensor:
        self.seen.append(rows)
        if self.bad is not None and len(self.seen) > self.bad:
            return self.model.weight.sum() * float("nan")
        return sum((self.model.weight - row).square().sum() / 2 for row in rows)  # type: ignore

    def validation_loss(self, rows: list[int]) -> Tensor:
        return (self.model.weight - 4).abs().sum()

    def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
        score = self.scores.pop(0) if self.scores else 0.0
        return {"loss": float(forward([0])), "score": score}


def run(task: Pull, path: Path, resume: bool = False, **settings: object) -> Outcome:
    folder = RunFolder(path)
    if not resume:
        folder.write_config({})
    usual = {"warmup": 0, "schedule": "constant", "clip": 0.0, "log_every": 1, "learning_rate": 0.5}
    config = TrainConfig(**(usual | settings))  # type: ignore[arg-type]
    return Loop(task, config, folder, progress=Progress()).run(resume)


def test_adam_by_hand(tmp_path: Path) -> None:
    """The first step of Adam is the step size, whatever the gradient."""
    task = Pull()
    outcome = run(task, tmp_path, steps=1)
    assert outcome.reason == "steps"
    assert task.model.weight.item() == pytest.approx(0.5)
    assert [e["loss"] for e in read_log(tmp_path / "log.jsonl") if e["event"] == "train"] == [2.5]


def test_gradients_add_up_over_batches(tmp_path: Path) -> None:
    run(Pull(), tmp_path, epochs=1, accumulate=2)
    event = read_log(tmp_path / "log.jsonl")[0]
    assert event["norm"] == pytest.approx(3.0)  # the mean of 1, 3, 5, not of two batch means
    assert event["loss"] == pytest.approx((1 + 9 + 25) / 2 / 3)


def test_epochs_and_order(tmp_path: Path) -> None:
    task = Pull()
    assert run(task, tmp_path, epochs=2).reason == "epochs"
    assert task.seen == [[1, 3], [5]] * 2


def test_patience_counts_validations_without_a_best(tmp_path: Path) -> None:
    outcome = run(Pull([1.0, 3.0, 2.0, 2.5, 9.9]), tmp_path, patience=2, average=1)
    assert outcome.reason == "patience"
    assert outcome.state.epoch == 4
    assert outcome.state.best == 3.0
    assert outcome.state.best_step == 4
    best = load_file(tmp_path / "checkpoints/step-00000004/model.safetensors")
    assert torch.equal(load_file(tmp_path / "model.safetensors")["weight"], best["weight"])


def test_patience_survives_a_resume(tmp_path: Path) -> None:
    run(Pull([3.0, 2.0]), tmp_path, patience=2, epochs=2, average=1)
    outcome = run(Pull([2.5, 9.9]), tmp_path, resume=True, patience=2, average=1)
    assert (outcome.reason, outcome.state.epoch, outcome.state.best) == ("patience", 3, 3.0)


@pytest.mark.parametrize(("of", "steps"), [("best", [2, 6]), ("last", [6, 8])])
def test_average(of: str, steps: list[int], tmp_path: Path) -> None:
    task = Pull([5.0, 1.0, 4.0, 3.0, 6.0])
    outcome = run(task, tmp_path, epochs=4, average=2, average_of=of)
    assert (outcome.state.average, outcome.state.best) == (6.0, 5.0)
    single = [
        load_file(tmp_path / f"checkpoints/step-{step:08d}/model.safetensors")["weight"]
        for step in steps
    ]
    average = load_file(tmp_path / "model.safetensors")["weight"]
    torch.testing.assert_close(average, sum(single) / 2)


def test_a_worse_average_is_not_kept(tmp_path: Path) -> None:
    outcome = run(Pull([5.0, 6.0, 5.9]), tmp_path, epochs=2)
    assert outcome.state.average is None
    assert outcome.state.figure == 6.0


def test_monitor_the_loss(tmp_path: Path) -> None:
    outcome = run(Pull([9.0, 8.0, 7.0, 6.0]), tmp_path, epochs=3, monitor="loss", average=1)
    assert outcome.state.best_step == 6


def test_not_a_number_stops_before_the_weights_change(tmp_path: Path) -> None:
    task = Pull(bad=3)
    with pytest.raises(TrainingError, match=r"step 4 .* step 2 is kept: go on with --resume and"):
        run(task, tmp_path, epochs=9, save_every=2)
    assert torch.isfinite(task.model.weight).all()
    resumed = run(Pull(), tmp_path, resume=True, epochs=3)
    assert resumed.state.step == 6


def test_resume_without_a_checkpoint_starts_over(tmp_path: Path) -> None:
    RunFolder(tmp_path).write_config({})
    assert run(Pull(), tmp_path, resume=True, steps=3).state.step == 3


def test_a_signal_in_the_last_validation_loses_nothing(tmp_path: Path) -> None:
    class Slow(Pull):
        def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
            os.kill(os.getpid(), signal.SIGTERM)
            return super().evaluate(forward, decode)

    settings: dict[str, Any] = {"steps": 4, "validate_every": 100, "save_every": 0}
    outcome = run(Slow([1.0]), tmp_path, **settings)
    assert outcome.interrupted
    assert Checkpoints(tmp_path / "checkpoints").steps() == [4]
    outcome = run(Pull(), tmp_path, resume=True, **settings)
    assert (outcome.reason, outcome.state.best) == ("steps", 1.0), "it is not validated again"


def test_the_last_update_is_saved_before_the_last_validation(tmp_path: Path) -> None:
    class Killed(Pull):
        def evaluate(self, forward: Callable[..., Tensor], decode: bool) -> dict[str, float]:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(Killed(), tmp_path, steps=3, validate_every=100, save_every=0)
    assert Checkpoints(tmp_path / "checkpoints").steps() == [3]


def events(folder: Path, name: str) -> list[int]:
    return [e["step"] for e in read_log(folder / "log.jsonl") if e["event"] == name]


def test_a_finished_run_stays_finished(tmp_path: Path) -> None:
    """An average that was kept is the model until something is better than it."""
    first = run(Pull([5.0, 4.0, 6.0]), tmp_path, epochs=2)
    assert (first.state.best, first.state.average) == (5.0, 6.0)
    model = (tmp_path / "model.safetensors").read_bytes()
    again = run(Pull([9.9]), tmp_path, resume=True, epochs=2)
    assert (again.reason, again.state.figure) == ("epochs", 6.0)
    assert (events(tmp_path, "average"), events(tmp_path, "end")) == ([4], [4])
    longer = run(Pull([5.5, 5.4]), tmp_path, resume=True, epochs=3)
    assert (longer.state.best, longer.state.figure) == (5.5, 6.0)
    assert (tmp_path / "model.safetensors").read_bytes() == model
    better = run(Pull([7.0, 1.0]), tmp_path, resume=True, epochs=4)
    assert (better.state.average, better.state.figure) == (None, 7.0)
    assert (tmp_path / "model.safetensors").read_bytes() != model
    assert events(tmp_path, "end") == [4, 6, 8]


def test_a_model_file_that_is_gone_is_made_again(tmp_path: Path) -> None:
    run(Pull([5.0, 4.0, 6.0]), tmp_path, epochs=2)
    average = (tmp_path / "model.safetensors").read_bytes()
    (tmp_path / "model.safetensors").unlink()
    outcome = run(Pull([6.0]), tmp_path, resume=True, epochs=2)
    assert outcome.state.figure == 6.0
    assert (tmp_path / "model.safetensors").read_bytes() == average
    (tmp_path / "model.safetensors").unlink()
    best = tmp_path / "checkpoints/step-00000002/model.safetensors"
    best.write_bytes(best.read_bytes()[:-1])
    outcome = run(Pull([3.0]), tmp_path, resume=True, epochs=2)
    assert outcome.state.figure == 3.0
    assert (tmp_path / "model.safetensors").exists()


def test_damaged_weights_are_left_out_of_the_average(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    scores = [5.0, 4.0, 3.0, 2.0]
    run(Pull(scores), tmp_path, epochs=4, average=4, patience=0, steps=7)
    for step, change in ((2, b"no"), (4, None)):
        path = tmp_path / f"checkpoints/step-{step:08d}/model.safetensors"
        assert not path.with_name("state.json").exists()
        data = bytearray(path.read_bytes())
        data[-1] ^= 1  # a number changes: only the hash can know
        path.write_bytes(change or bytes(data))
    folder = RunFolder(tmp_path)
    config = TrainConfig(epochs=4, average=4, learning_rate=0.5)
    progress = ProgressLines(sys.stdout)
    outcome = Loop(Pull([1.0, 9.0]), config, folder, progress=progress).run(resume=True)
    assert outcome.state.average == 9.0
    said = capsys.readouterr().out
    assert said.count("it is left out of the average") == 2
    assert "average of steps 6, 7: score 9.000, kept" in said


def test_a_run_that_went_astray_can_be_given_another_rate(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(Pull(), tmp_path, epochs=1)
    folder, config = RunFolder(tmp_path), TrainConfig(epochs=2, learning_rate=0.1, log_every=1)
    changed = {"train.learning_rate": 0.1}
    loop = Loop(Pull(), config, folder, progress=ProgressLines(sys.stdout))
    loop.run(resume=True, changed=changed)
    assert "from here on train.learning_rate 0.1" in capsys.readouterr().out
    event = next(e for e in read_log(tmp_path / "log.jsonl") if e["event"] == "changed")
    assert event == {"event": "changed", "step": 2, **changed}


def test_a_loss_that_has_left_all_reason_is_said_once(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = RunFolder(tmp_path)
    folder.write_config({})
    config = TrainConfig(steps=6, learning_rate=90.0, warmup=0, log_every=1, schedule="constant")
    Loop(Pull(), config, folder, progress=ProgressLines(sys.stdout)).run()
    said = capsys.readouterr().out
    assert said.count("warning: the loss is ") == 1
    assert "at first it was 2.5: the run has gone astray; Ctrl-C, then --resume and a" in said
    assert len(events(tmp_path, "astray")) == 1


def test_the_clock_counts_what_was_before_and_keeps_what_comes_after(tmp_path: Path) -> None:
    folder = RunFolder(tmp_path)
    folder.write_config({})
    config = TrainConfig(minutes=1, patience=0, steps=3)
    assert Loop(Pull(), config, folder, spent=59.5).run().reason == "minutes"
    outcome = Loop(Pull(), config, folder, spent=1.0).run(resume=True)
    assert outcome.reason == "minutes", "the sessions before count too"
    shutil.rmtree(tmp_path)
    folder.write_config({})
    assert Loop(Pull(), config, folder, after=59.5).run().reason == "minutes"
    assert Loop(Pull(), config, folder, after=1.0).run(resume=True).reason == "steps"


def test_minutes(tmp_path: Path) -> None:
    assert run(Pull(), tmp_path, minutes=0.005, patience=0).reason == "minutes"


def test_clip(tmp_path: Path) -> None:
    task = Pull()
    run(task, tmp_path, steps=1, clip=0.5)
    assert task.model.weight.grad is not None
    assert task.model.weight.grad.item() == pytest.approx(-0.5)


def test_plain_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = RunFolder(tmp_path)
    folder.write_config({})
    config = TrainConfig(steps=3, log_every=2)
    Loop(Pull([7.0]), config, folder, progress=ProgressLines(sys.stdout)).run()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("step 2  epoch 1.00  loss ")
    assert lines[0].endswith(" left")
    assert "validation at step 2: loss" in lines[1]
    assert "score 7.000  (best so far)" in lines[1]
