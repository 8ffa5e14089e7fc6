"""The loop with a task small enough to compute by hand: one weight, pulled to a target."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from regard.errors import TrainingError
from regard.store.folder import RunFolder
from regard.train.config import TrainConfig
from regard.train.run.log import read_log
from regard.train.run.loop import Loop, Outcome
from regard.train.run.progress import Progress, ProgressLines


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
    assert outcome.averaged
    assert outcome.state.best == 6.0
    single = [
        load_file(tmp_path / f"checkpoints/step-{step:08d}/model.safetensors")["weight"]
        for step in steps
    ]
    average = load_file(tmp_path / "model.safetensors")["weight"]
    torch.testing.assert_close(average, sum(single) / 2)


def test_a_worse_average_is_not_kept(tmp_path: Path) -> None:
    outcome = run(Pull([5.0, 6.0, 5.9]), tmp_path, epochs=2)
    assert not outcome.averaged
    assert outcome.state.best == 6.0


def test_monitor_the_loss(tmp_path: Path) -> None:
    outcome = run(Pull([9.0, 8.0, 7.0, 6.0]), tmp_path, epochs=3, monitor="loss", average=1)
    assert outcome.state.best_step == 6


def test_not_a_number_stops_before_the_weights_change(tmp_path: Path) -> None:
    task = Pull(bad=3)
    with pytest.raises(TrainingError, match=r"step 4 .* the checkpoint of step 2 is kept"):
        run(task, tmp_path, epochs=9, save_every=2)
    assert torch.isfinite(task.model.weight).all()
    resumed = run(Pull(), tmp_path, resume=True, epochs=3)
    assert resumed.state.step == 6


def test_resume_without_a_checkpoint_starts_over(tmp_path: Path) -> None:
    RunFolder(tmp_path).write_config({})
    assert run(Pull(), tmp_path, resume=True, steps=3).state.step == 3


def test_minutes(tmp_path: Path) -> None:
    assert run(Pull(), tmp_path, minutes=0.005, patience=0).reason == "minutes"


def test_clip(tmp_path: Path) -> None:
    task = Pull()
    run(task, tmp_path, steps=1, clip=0.5)
    assert task.model.weight.grad is not None
    assert task.model.weight.grad.item() == pytest.approx(-0.5)


def test_plain_lines(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sys

    folder = RunFolder(tmp_path)
    folder.write_config({})
    config = TrainConfig(steps=3, log_every=2)
    Loop(Pull([7.0]), config, folder, progress=ProgressLines(sys.stdout)).run()
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("step 2  epoch 1.00  loss ")
    assert lines[0].endswith(" left")
    assert "validation at step 2: loss" in lines[1]
    assert "score 7.000  (best so far)" in lines[1]
