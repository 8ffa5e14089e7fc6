"""Train, measure and pack the forecaster that comes with regard: of made-up series, for real ones.

    python benchmarks/forecaster.py --runs runs [--ship] temps.csv "prices.csv gaps=steps" …

Makes a table of series that nobody has measured (trends, seasons of many lengths, random walks,
noise), trains on it, and prints how far the model is off on tables that it has never seen, each a
file with settings of ``[data]`` behind it. ``--ship`` packs the model into the package with its
card. A run that was interrupted goes on, a finished one is only measured.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.files import write_text
from regard.models.baselines import Baselines, fit_linear
from regard.models.forecaster import Forecaster
from regard.store.folder import RunFolder, load_forecaster
from regard.store.shipped import HOME, pack
from regard.train.data.series import DividedSeries, divided_series
from regard.train.data.thingconfig import SeriesConfig
from regard.train.run.log import read_log
from regard.train.tasks.forecast import Errors, Way, errors_of, ways_of

CHANNELS, STEPS = 1024, 800
CONTEXT, HORIZON = 96, 24
SEASONS = (4, 5, 7, 12, 12, 24, 24, 24, 30, 48, 52)
"""Lengths that the world likes; every third season has another one."""


def made_up(chance: np.random.Generator) -> NDArray[np.float64]:
    """One series: a trend, up to two seasons, a random walk and noise, each in its own strength."""
    steps = np.arange(STEPS)
    slope = chance.choice([0.0, chance.normal(0, 0.01)])
    bend = np.maximum(0, steps - chance.integers(STEPS)) * chance.choice([0.0, 0.01]) * slope
    found = slope * steps + bend
    season = np.zeros(STEPS)
    for _ in range(chance.integers(0, 3)):
        season += season_of(chance, steps) * chance.lognormal(0, 0.7)
    if chance.random() < 0.25:  # a season that grows with its level
        season *= np.exp(chance.normal(0, 0.0015) * steps)
    walk = np.cumsum(chance.normal(0, 1, STEPS)) * chance.choice([0.0, 0.05, 0.3])
    noise, memory = np.zeros(STEPS), chance.choice([0.0, 0.5, 0.9])
    for step, shock in enumerate(chance.normal(0, 1, STEPS)):
        noise[step] = memory * noise[step - 1] + shock if step else shock
    made: NDArray[np.float64] = found + season + walk + noise * chance.choice([0.02, 0.1, 0.3, 0.8])
    return made


def season_of(chance: np.random.Generator, steps: NDArray[Any]) -> NDArray[np.float64]:
    """A shape that comes again: a few waves whose lengths divide a season's."""
    length = chance.choice(SEASONS) if chance.random() < 0.67 else chance.uniform(3, CONTEXT)
    found = np.zeros(len(steps))
    for wave in range(1, 1 + int(chance.integers(1, 5))):
        turn = 2 * np.pi * wave * steps / length + chance.uniform(0, 2 * np.pi)
        found += np.sin(turn) * chance.normal(0, 1) / wave
    return found


def write_table(path: Path) -> None:
    """The made-up series as a table, one column each; always the same."""
    chance = np.random.default_rng(1)
    columns = np.stack([made_up(chance) for _ in range(CHANNELS)], 1)
    lines = ["step," + ",".join(f"s{i}" for i in range(CHANNELS))]
    for step, row in enumerate(columns):
        lines.append(f"{step}," + ",".join(f"{value:.4f}" for value in row))
    write_text(path, "\n".join(lines) + "\n")


def command(runs: Path, epochs: int) -> list[str]:
    return [
        *("regard", "train", "forecast", "--series", str(runs / "made-up.csv")),
        *("--context", str(CONTEXT), "--horizon", str(HORIZON), "--model", "transformer"),
        *("--size", "small", "--epochs", str(epochs), "--learning-rate", "2e-3"),
        *("--patience", "0", "--seed", "1", "--threads", "1", "-o", str(runs / "forecaster")),
        *("--set", "train.validate_every=200"),
    ]


def rival_ways(model: Forecaster, data: DividedSeries) -> dict[str, Way]:
    """The model, which has never seen such a series, beside baselines that know its first part."""
    linear = fit_linear((past, future) for _, past, future in data.windows("train"))
    return ways_of(model, Baselines(data.season, linear))


def measured(folder: Path, words: str) -> list[tuple[str, Errors]]:
    """The errors on the last part of a table: a file and settings, such as ``a.csv gaps=steps``."""
    file, *settings = shlex.split(words)
    own: dict[str, Any] = dict(setting.split("=", 1) for setting in settings)
    kinds = {"season": int, "valid_share": float, "test_share": float}
    own = {name: kinds.get(name, str)(value) for name, value in own.items()}
    data = SeriesConfig(series=file, context=CONTEXT, horizon=HORIZON, **own)
    divided = divided_series(data)
    model, _ = load_forecaster(folder)
    return [(Path(file).stem, found) for found in errors_of(divided, rival_ways(model, divided))]


def table(rows: list[tuple[str, Errors]]) -> str:
    """Mean absolute errors, in standard deviations: a row for each table, a column for each way."""
    names = list(dict.fromkeys(found.name for _, found in rows))
    lines = ["| series | " + " | ".join(names) + " |", "|---" * (1 + len(names)) + "|"]
    for series in dict.fromkeys(series for series, _ in rows):
        errors = {found.name: f"{found.mae:.3f}" for name, found in rows if name == series}
        lines.append(f"| {series} | " + " | ".join(errors.get(n, "–") for n in names) + " |")
    return "\n".join(lines)


def card(runs: Path, epochs: int, figures: str) -> str:
    """What comes with the packed model."""
    folder = RunFolder(runs / "forecaster")
    model, _ = load_forecaster(folder.path)
    end = next(e for e in reversed(read_log(folder.log)) if e["event"] == "end")
    size = sum(p.numel() for p in model.parameters())
    words = shlex.join(command(Path("runs"), epochs))
    return f"""# forecaster: how a series goes on

A Transformer over pieces of {model.config.patch} steps, {size:,} parameters; matrices stored in 8
bits with a scale a row. It reads {CONTEXT} steps and says {HORIZON} more. Made by regard.

## Data

{CHANNELS:,} made-up series of {STEPS} steps: trends, seasons of many lengths, random walks, noise.
Nobody has measured them; `benchmarks/forecaster.py` makes them, always the same.

## Training

    {words}

Seed 1, {end["step"]:,} updates, {end["seconds"] / 60:.0f} minutes on the clock with one thread, on
a machine with other work.

## Quality

Mean absolute error, in standard deviations, on the last fifth of real series of which it has seen
none ("last" says the last value again, "season" the last season; "linear" is fitted to the first
part of the very series):

{figures}

## Limits

It is made for looking at how such a model works, and has never seen a series like yours: it is
closer than the last value said again, but where a season is clear, the last season said again is
often closer still, and a linear map fitted to a long series of your own closer than both. It says a
number for each step and no interval around it, and a season longer than {CONTEXT} steps it cannot
see. Where your series is long enough, train on it (`regard train forecast`).
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("tables", nargs="*", help="to measure on: a file and settings, in quotes")
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--epochs", type=int, default=6)
    parser.add_argument("--ship", action="store_true", help="pack the model into the package")
    given = parser.parse_args()
    given.runs.mkdir(exist_ok=True)
    folder = RunFolder(given.runs / "forecaster")
    if not folder.config.exists():
        write_table(given.runs / "made-up.csv")
    if not (folder.path / "report.html").exists():  # the last thing that a run writes
        resume = ["--resume"] if folder.config.exists() else []
        words = [sys.executable, "-m", *command(given.runs, given.epochs), *resume]
        subprocess.run(words, check=True)
    if given.ship:
        print(f"{pack(folder.path, HOME / 'forecaster'):,} bytes of weights")
    to_measure = HOME / "forecaster" if given.ship else folder.path
    figures = table([row for words in given.tables for row in measured(to_measure, words)])
    print(figures)
    if given.ship:
        text = card(given.runs, given.epochs, figures)
        write_text(HOME / "forecaster" / "card.md", text)


if __name__ == "__main__":
    main()
