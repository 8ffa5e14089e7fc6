"""Series: every design of a forecaster beside the last value, the last season and a linear map.

    python benchmarks/series.py --runs runs [--seeds 3] [--designs lstm transformer] \\
        -- --series prices.csv --columns close --gaps steps --horizon 5

What stands behind ``--`` goes to ``regard train forecast`` as it is. Trains each design with
several seeds and prints the errors on the test part: the mean, and the least and the most of the
seeds. A run that is finished is only measured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from regard.models.design import DESIGNS
from regard.store.folder import load_forecaster
from regard.train.tasks.evaluate import evaluate


def trained(given: argparse.Namespace, model: str, seed: int) -> Path:
    """The folder of one run, trained if it is not there."""
    folder = Path(given.runs) / f"{model}-{seed}"
    done = (folder / "report.html").exists()  # the last thing that a run writes
    if not done:
        resume = ["--resume"] if (folder / "config.json").exists() else []
        subprocess.run(
            [
                *(sys.executable, "-m", "regard", "train", "forecast", *given.options),
                *("--model", model, "--seed", str(seed), "--threads", "1", "-o", str(folder)),
                *resume,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return folder


def row(name: str, parameters: str, found: list[dict[str, Any]]) -> str:
    """A line of the table: of several seeds the mean, and from where to where they go."""
    cells = []
    for measure in ("mse", "mae", "mase"):
        values = [each[measure] for each in found]
        if None in values:
            cells.append("–")
            continue
        span = f" ({min(values):.3f}–{max(values):.3f})" if len(values) > 1 else ""
        cells.append(f"{np.mean(values):.3f}{span}")
    return f"| {name} | {parameters} | {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", default="runs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--designs", nargs="+", default=list(DESIGNS), choices=DESIGNS)
    parser.add_argument("options", nargs="*", help="of regard train forecast, behind --")
    given = parser.parse_args()
    print("| model | parameters | MSE | MAE | MASE |\n|---|---|---|---|---|", flush=True)
    for number, model in enumerate(given.designs):
        folders = [trained(given, model, seed) for seed in range(1, given.seeds + 1)]
        found = [evaluate(folder, folder.name)["errors"] for folder in folders]
        if number == 0:
            for baseline in found[0][:-1]:
                print(row(baseline["name"], "–", [baseline]))
        size = sum(p.numel() for p in load_forecaster(folders[0])[0].parameters())
        print(row(model, f"{size:,}", [each[-1] for each in found]), flush=True)


if __name__ == "__main__":
    main()
