"""Training on sounds by the command: learned, measured, gone on with; refused in one line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from regard.train.data.thingconfig import SoundsConfig
from regard.train.tasks.sounds import frames_of
from tests.cli.run import Done, regard
from tests.sounds import save_tone, wav


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two kinds of sounds: low and high tones, with noise."""
    made = tmp_path_factory.mktemp("tones")
    (made / "tones").mkdir()
    for number in range(60):
        label, hertz = (("low", 400), ("high", 2000))[number % 2]
        save_tone(made / "tones" / f"{label}_{number}.wav", hertz, 0.15, number)
    return made


def train(folder: Path, name: str, *more: str) -> Done:
    flags = ["--size", "tiny", "--epochs", "6", "--threads", "1", "--batch-tokens", "40"]
    flags += ["--set", "data.seconds=0.2", "--set", "data.bands=8"]
    return regard(
        "train", "classify", "--sounds", "tones", *flags, *more, "-o", name, folder=folder
    )


@pytest.mark.parametrize("model", ["patches", "conv", "average"])
def test_trained_measured_and_read(folder: Path, model: str) -> None:
    done = train(folder, model, "--model", model)
    assert done.returncode == 0, done.stderr
    assert "sounds to train on" in done.stdout
    assert "0.20 s of each, 20 frames of 8 bands" in done.stdout
    assert "longer" not in done.stdout
    config = json.loads((folder / model / "config.json").read_text())
    cut = {key: config["model"].get(key) for key in ("patch", "height")}
    assert cut == (
        {"patch": None, "height": None} if model == "conv" else {"patch": 5, "height": 8}
    )
    figures = json.loads(regard("evaluate", model, "--json", "-", folder=folder).stdout)
    assert figures["labels"] == ["low", "high"]
    assert figures["sounds"] == sum(map(sum, figures["confusion"]))
    assert figures["accuracy"] > 0.9
    shown = regard("evaluate", model, "--sounds", "tones", folder=folder)
    assert shown.stdout.startswith("60 sounds\naccuracy")
    said = regard("read", "--model", model, "--sound", "tones/low_0.wav", folder=folder)
    assert said.returncode == 0, said.stderr
    assert said.stdout.split()[2] == "low"
    assert ("what it decided by" in said.stdout) == (model != "conv")


def test_a_run_goes_on_and_says_what_it_leaves_out(folder: Path) -> None:
    done = train(folder, "on", "--model", "average", "--set", "data.seconds=0.1", "--epochs", "1")
    assert "60 of the sounds are longer: their rest is not read (data.seconds)" in done.stdout
    done = regard("train", "classify", "--epochs", "2", "-o", "on", "--resume", folder=folder)
    assert done.returncode == 0, done.stderr
    (folder / "tones" / "low_60.wav").write_bytes((folder / "tones" / "low_0.wav").read_bytes())
    done = regard("evaluate", "on", folder=folder)
    (folder / "tones" / "low_60.wav").unlink()
    assert "'tones' has changed since 'on' was trained on it: give --sounds DIR" in done.stderr


def test_the_frames_of_the_seconds() -> None:
    lengths = (0.05, 0.07, 0.08, 1.0, 2.5)
    found = [frames_of(SoundsConfig(sounds="x", seconds=seconds)) for seconds in lengths]
    assert found == [5, 5, 10, 100, 250]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--model", "cnn"), "model must be one of patches, conv, average, got 'cnn'"),
        (("--set", "data.seconds=0"), "data.seconds must be from 0.05 to 60, got 0"),
        (("--set", "data.bands=500"), "data.bands must be at most 128, got 500"),
        (("--set", "model.patch=3"), "patch must divide the image, 8 x 20 pixels; got 8 x 3"),
        (("--images", "a.npz"), "--images and --sounds are two kinds of data: give one"),
        (("--test", "none"), "there are no sounds at 'none'"),
        (("--test", "damaged"), "low_0.wav' is cut off: it should have 90 bytes of sound"),
        (("--test", "strange"), "the test part has the label 'new', which never occurs in trai"),
    ],
)
def test_refused_in_one_line(folder: Path, more: tuple[str, ...], said: str) -> None:
    for name in ("damaged", "strange"):
        (folder / name).mkdir(exist_ok=True)
    (folder / "damaged" / "low_0.wav").write_bytes(wav(bytes(90))[:-1])
    save_tone(folder / "strange" / "new_0.wav", 500)
    done = train(folder, "refused", *more)
    assert done.returncode == 2
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (folder / "refused" / "config.json").exists()
