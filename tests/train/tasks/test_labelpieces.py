"""Labelling patches and steps: pieces by hand, runs from the command to `read`, refusals."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from regard.pieces.clock import Clock
from regard.pieces.series import Series
from regard.train.data.scenes import Scenes
from regard.train.data.states import DividedStates
from regard.train.tasks.labelpieces import patch_pieces, step_pieces
from tests.train.tasks.test_lm import run

QUICK = ["--size", "tiny", "--steps", "20", "--batch-tokens", "64", "--threads", "1"]
QUICK += ["--set", "train.validate_every=10", "--set", "train.average=1"]


def scenes(path: Path, count: int = 90) -> Path:
    """Images of 6 x 6: a bright square of 2 x 2 in one of nine places; its class is its place's
    column, which no pixel of it says."""
    chance = np.random.default_rng(2)
    images = chance.integers(0, 40, (count, 6, 6), dtype=np.uint8)
    labels = np.zeros((count, 6, 6), np.int64)
    for i in range(count):
        row, column = divmod(i % 9, 3)
        place = i, slice(2 * row, 2 * row + 2), slice(2 * column, 2 * column + 2)
        images[place] += 200
        labels[place] = 1 + column
    np.savez(path, images=images, labels=labels, names=["ground", "left", "middle", "right"])
    return path


def weather(path: Path) -> Path:
    """90 days whose state is whether it was warmer the day before."""
    values = np.random.default_rng(3).integers(0, 30, 90)
    states = ["up" if a < b else "down" for a, b in zip([0, *values], values, strict=False)]
    rows = [f"{i},{v},{s}\n" for i, (v, s) in enumerate(zip(values, states, strict=True))]
    path.write_text("time,warm,state\n" + "".join(rows))
    return path


def test_patches_by_hand() -> None:
    pixels = np.arange(16, dtype=np.uint8).reshape(1, 4, 4, 1)
    classes = np.repeat(np.repeat([[2, 0], [0, 1]], 2, 0), 2, 1)[np.newaxis].astype(np.uint8)
    part = patch_pieces(Scenes(pixels, classes, ["a", "b", "c"]), 2, ["c", "b", "a"])
    assert part.labels.tolist() == [[0, 2, 2, 1]]
    batch = part.batch([0])
    assert (batch.pieces[0] * 255).round().tolist() == [
        [0, 1, 4, 5],
        [2, 3, 6, 7],
        [8, 9, 12, 13],
        [10, 11, 14, 15],
    ]
    assert batch.lengths.tolist() == [4]
    assert batch.words is None


def test_steps_by_hand() -> None:
    values = np.arange(12.0).reshape(6, 2)
    series = Series(Clock([str(i) for i in range(6)], []), ["a", "b"], values)
    data = DividedStates(series, list("xyxxyy"), 4, 5, 3)
    part = step_pieces(data, ["x", "y"], [1, 3])
    assert part.labels.tolist() == [[1, 0, 0], [0, 1, 1]]
    assert torch.equal(part.batch([1]).pieces, torch.tensor(values[None, 3:6]).float())
    assert part.lengths == [(3,), (3,)]


def test_a_run_on_images(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = scenes(tmp_path / "scenes.npz"), tmp_path / "run"
    command = ["train", "label", "--images", str(file), "-o", str(output), *QUICK]
    assert run([*command, "--set", "data.patch=2"]) == 0
    said = capsys.readouterr().out
    assert "6 x 6 pixels, in patches of 2 x 2" in said
    assert "patches: ground (" in said
    assert run(["train", "label", "-o", str(output), "--resume", "--steps", "21"]) == 0
    capsys.readouterr()
    assert run(["evaluate", str(output), "--images", str(file), "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["images"], found["labelled"], found["of"]) == (90, 810, "patches")
    assert [way["name"] for way in found["ways"]] == [
        "commonest label",
        "the patch alone, linear",
        "transformer",
    ]
    assert found["ways"][0]["accuracy"] == 8 / 9
    assert found["ways"][0]["iou"] == pytest.approx(8 / 9 / 4)
    assert run(["evaluate", str(output)]) == 0
    assert "mean IoU" in capsys.readouterr().out
    Image.fromarray(np.zeros((12, 12), np.uint8)).save(tmp_path / "own.png")
    own = ["read", "--model", str(output), "--image", str(tmp_path / "own.png")]
    assert run([*own, "--at", "11,0", "--html", str(tmp_path / "p.html")]) == 0
    said = capsys.readouterr().out
    assert "of 9 patches" in said
    assert "0,2: " in said
    assert "what it looked at, in the last layer" in said
    assert (tmp_path / "p.html").exists()
    assert run([*own, "--at", "x"]) == 2
    assert "--at is a pixel of the image, X,Y such as 120,80; got 'x'" in capsys.readouterr().err
    assert run([*own, "--json", "-"]) == 0
    steps = json.loads(capsys.readouterr().out)["steps"]
    assert np.array(steps[0]["value"]).shape == (9, 4)


def test_a_run_on_a_series(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, output = weather(tmp_path / "w.csv"), tmp_path / "run"
    command = ["train", "label", "--series", str(file), "--state", "state", "--context", "8"]
    assert run([*command, "--model", "lstmn", "-o", str(output), *QUICK]) == 0
    assert "90 steps of warm: to train until 62, to validate until 71" in capsys.readouterr().out
    assert run(["evaluate", str(output)]) == 0
    said = capsys.readouterr().out
    assert "3 windows, 24 steps with a label each" in said
    assert "the step alone, linear" in said
    own = ["read", "--model", str(output), "--series", str(file)]
    assert run([*own, "--at", "50"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "lstmn: the state at each of the last 8 steps"
    assert [line.split()[0] for line in lines[2:]] == [str(i) for i in range(42, 50)]
    assert {line.split()[1] for line in lines[2:]} <= {"up", "down"}
    assert run([*own, "--png", "x.png"]) == 2
    assert (
        "--series is read alone: of the other options it takes --model, --at, --layer"
        in capsys.readouterr().err
    )
    plain = tmp_path / "plain.csv"  # of which nobody knows the states
    plain.write_text("time,warm\n" + "".join(f"{i},{i}\n" for i in range(5)))
    assert run(["read", "--model", str(output), "--series", str(plain), "--json", "-"]) == 0
    assert len(json.loads(capsys.readouterr().out)["tokens"]) == 5
    plain.write_text("time,warm,cold\n" + "".join(f"{i},{i},1\n" for i in range(5)))
    assert run(["read", "--model", str(output), "--series", str(plain)]) == 2
    error = capsys.readouterr().err
    assert "the model reads 1 columns of numbers at each step, this table has 2" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data", "a", "--images", "b"], "--data and --images are two kinds of data: give one"),
        (["--series", "a"], "state is missing: the column with the state at each step"),
        (["--images", "nowhere.npz"], "there are no scenes at 'nowhere.npz'"),
    ],
)
def test_refused(
    arguments: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["train", "label", *arguments, "-o", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert message in error
    assert error.count("\n") == 1


def test_a_class_that_training_has_not(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = scenes(tmp_path / "scenes.npz")
    other = tmp_path / "other.npz"
    images, labels = np.zeros((2, 6, 6), np.uint8), np.full((2, 6, 6), 1)
    np.savez(other, images=images, labels=labels, names=["ground", "moon"])
    command = ["train", "label", "--images", str(file), "--test", str(other)]
    assert run([*command, "-o", str(tmp_path / "run")]) == 2
    error = capsys.readouterr().err
    assert "the test part has the label 'moon', which never occurs in training" in error
