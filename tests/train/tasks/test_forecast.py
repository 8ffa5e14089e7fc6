"""Forecasting by the command: learned, measured beside baselines, resumed to the bit, read."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from regard.errors import ConfigError
from regard.models.baselines import Baselines
from regard.train.data.series import divided_series
from regard.train.data.thingconfig import SeriesConfig
from regard.train.tasks.forecast import Forecasts, errors_of, forecasts
from tests.cli.run import Done, regard


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two noisy waves of 8 steps, and a folder with a Transformer that has learned them."""
    made = tmp_path_factory.mktemp("waves")
    chance = np.random.default_rng(5)
    t = np.arange(400)
    waves = [np.sin(t * np.pi / 4 + shift) + 0.1 * chance.normal(size=400) for shift in (0, 1)]
    rows = [f"{i},{a:.4f},{b:.4f}" for i, (a, b) in enumerate(zip(*waves, strict=True))]
    (made / "waves.csv").write_text("\n".join(["step,one,two", *rows]) + "\n")
    done = train(made, "run", "--epochs", "4")
    assert done.returncode == 0, done.stderr
    assert "400 steps of one, two: to train until 279, to validate until 319" in done.stdout
    assert "24 steps are read, 8 forecast; a season has 8" in done.stdout
    return made


def train(folder: Path, name: str, *more: str) -> Done:
    flags = ("--horizon", "8", "--season", "8", "--size", "tiny", "--threads", "1")
    rest = ("--batch-tokens", "400", *more, "-o", name)
    return regard(
        "train", "forecast", "--series", "waves.csv", *flags, "--epochs", "1", *rest, folder=folder
    )


def test_measured_beside_its_baselines(folder: Path) -> None:
    figures = json.loads(regard("evaluate", "run", "--json", "-", folder=folder).stdout)
    errors = {row["name"]: row for row in figures["errors"]}
    assert list(errors) == ["last", "season", "linear", "transformer"]
    assert errors["transformer"]["mse"] < errors["last"]["mse"] / 2
    assert errors["season"]["mase"] == pytest.approx(1, abs=0.15)
    assert (figures["windows"], figures["channels"]) == (73, ["one", "two"])
    said = regard("evaluate", "run", folder=folder).stdout
    assert "73 windows of 2 channels from 320 to 399: 24 steps read, 8 forecast" in said
    assert said.strip().endswith(f"least MSE: {min(errors, key=lambda n: errors[n]['mse'])}")


def test_a_run_goes_on_to_the_same_bits(folder: Path) -> None:
    for name, epochs in (("whole", "2"), ("parts", "1")):
        train(folder, name, "--epochs", epochs, "--model", "lstm", "--set", "model.patch=4",
              "--set", "train.schedule=constant")  # fmt: skip
    done = regard("train", "forecast", "--epochs", "2", "-o", "parts", "--resume", folder=folder)
    assert done.returncode == 0, done.stderr
    whole, parts = (
        (folder / name / "model.safetensors").read_bytes() for name in ("whole", "parts")
    )
    assert whole == parts
    assert "a forecaster" in (folder / "whole" / "report.html").read_text()


def test_read_drawn_and_written(folder: Path) -> None:
    out = ("--csv", "f.csv", "--png", "f.png", "--html", "f.html")
    done = regard("read", "--model", "run", "--series", "waves.csv", *out, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "one: 8 steps from 400 by transformer (layer 1, mean of 4 heads)" in done.stdout
    assert "what each part of the forecast looked at:" in done.stdout
    with (folder / "f.csv").open() as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["time", "one", "two"]
    assert [row[0] for row in rows[1:]] == [str(i) for i in range(400, 408)]
    assert (folder / "f.png").read_bytes().startswith(b"\x89PNG")
    assert "<html" in (folder / "f.html").read_text()
    two = regard(
        "read", "--model", "run", "--series", "waves.csv", "--channel", "two", "--at", "390",
        "--json", "-", folder=folder,
    )  # fmt: skip
    content = json.loads(two.stdout)
    assert content["channel"] == "two"
    assert content["read"] == ["366", "389"]
    assert len(content["came"]) == 8
    weights = np.array(content["weights"])
    assert weights.shape[:2] == (2, 4)
    assert weights.shape[-1] == len(content["pieces"])
    assert (weights.sum(-1) < 1).all()  # the rest goes to the other parts of the forecast


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--model", "rnn"), "model must be one of simple-rnn"),
        (("--horizon", "0"), "data.horizon must be at least 1, got 0"),
        (("--set", "model.patch=5"), "patch must divide context and horizon, 24 and 8; got 5"),
        (("--context", "999"), "has 400 rows, too few"),
        (("--columns", "three"), "has no column 'three': it has step, one, two"),
        (("--gaps", "fill"), "data.gaps must be one of refuse, steps, got 'fill'"),
        (("--horizon", "3000", "--context", "3000"), "context times horizon may be 4,000,000"),
        (("--level", "word"), "No such option"),
    ],
)
def test_refused_in_one_line(folder: Path, more: tuple[str, ...], said: str) -> None:
    done = train(folder, "refused", *more)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (folder / "refused").exists()


def test_reading_refused_in_one_line(folder: Path) -> None:
    for words, said in (
        (("--series", "waves.csv", "--at", "10"), "the model reads 24 steps before a forecast"),
        (("--series", "waves.csv", "--at", "soon"), "there is no time 'soon'"),
        (("--series", "none.csv"), "cannot read 'none.csv'"),
        (("--series", "waves.csv", "--layer", "7"), "layer must be from 0 to 1, got 7"),
        (("--series", "waves.csv", "a text"), "--series is read alone"),
        (("--channel", "one", "a text"), "--channel says how a table is read"),
        (("--png", "x.png", "a text"), "--png is of a forecast: it goes with --series"),
    ):
        done = regard("read", "--model", "run", *words, folder=folder)
        assert done.returncode == 2
        assert said in done.stderr


def test_a_series_that_changed_is_not_measured(folder: Path) -> None:
    train(folder, "other")
    text = (folder / "waves.csv").read_text()
    try:
        (folder / "waves.csv").write_text(text[: text.index("399,")])
        done = regard("evaluate", "other", folder=folder)
        assert "'waves.csv' has changed since 'other' was trained on it" in done.stderr
        given = regard("evaluate", "other", "--series", "waves.csv", folder=folder)
        assert given.returncode == 0, given.stderr
    finally:
        (folder / "waves.csv").write_text(text)


def test_errors_by_hand(tmp_path: Path) -> None:
    rows = [f"{i},{i % 2 * 2}" for i in range(20)]  # 0, 2, 0, 2, …: mean 1, deviation 1
    (tmp_path / "s.csv").write_text("\n".join(["t,a", *rows]))
    data = divided_series(
        SeriesConfig(series=str(tmp_path / "s.csv"), horizon=2, context=4, season=1)
    )
    found = errors_of(data, two_ways(data.context, data.horizon))
    last, other = found
    # In deviations: the last value is off by 2, then by 0; so is it off by 1 on average.
    assert (last.name, last.mse, last.mae, last.mase) == ("last", 2.0, 1.0, 0.5)
    assert (other.mse, other.mae, other.mase) == (1.0, 1.0, 0.5)


def two_ways(context: int, horizon: int) -> dict[str, Any]:
    say = Baselines(1, np.zeros((context, horizon))).say
    return {
        "last": lambda past: say(past)["last"],
        "zero": lambda past: np.zeros((len(past), horizon)),
    }


def test_no_mase_where_the_season_is_never_off(tmp_path: Path) -> None:
    rows = [f"{i},{i % 2 * 2}" for i in range(20)]
    (tmp_path / "s.csv").write_text("\n".join(["t,a", *rows]))
    data = divided_series(
        SeriesConfig(series=str(tmp_path / "s.csv"), horizon=2, context=4, season=2)
    )
    assert errors_of(data, two_ways(4, 2))[0].mase is None


def test_a_model_in_chunks_says_the_same(folder: Path) -> None:
    from regard.store.folder import load_forecaster

    model, _ = load_forecaster(folder / "run")
    past = np.random.default_rng(3).normal(size=(1100, 24))
    whole = forecasts(model, past)
    assert whole.shape == (1100, 8)
    assert forecasts(model, past[1050:]) == pytest.approx(whole[1050:], abs=1e-5)


def test_any_patch_is_left_to_the_data() -> None:
    job = Forecasts()
    settings = {"data": {"series": "s.csv"}, "model": {"patch": 11}}
    assert job.settle(settings).model["patch"] == 11
    with pytest.raises(ConfigError, match="patch must be a whole number"):
        job.settle({"data": {"series": "s.csv"}, "model": {"patch": -1}})
