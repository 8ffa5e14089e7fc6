"""Histories: recommenders beside popularity and the last item's successors, all items ranked.

    python benchmarks/histories.py --history ml-100k.inter --runs runs [--seeds 3]

Trains each design (``--models``) with several seeds and prints HR@10 and NDCG@10 of each user's
last item: the mean over the seeds and in brackets the least and the most. A run that is finished is
only measured, one that was interrupted goes on.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from regard.train.tasks.evaluate import evaluate


def trained(given: argparse.Namespace, model: str, seed: int) -> Path:
    """The folder of one run, trained if it is not there."""
    folder = Path(given.runs) / f"{model}-{given.size}-{seed}"
    if not (folder / "report.html").exists():
        resume = ["--resume"] if (folder / "config.json").exists() else []
        subprocess.run(
            [
                *(sys.executable, "-m", "regard", "train", "recommend", "--model", model),
                *("--history", given.history, "--size", given.size, "--epochs", str(given.epochs)),
                *("--seed", str(seed), "--threads", "1", "--patience", "0", "-o", str(folder)),
                *("--set", f"train.validate_every={given.validate_every}", *resume),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return folder


def cell(found: list[dict[str, Any]], key: str) -> str:
    values = [each[key]["value"] for each in found]
    return f"{np.mean(values):.3f} ({min(values):.3f}–{max(values):.3f})"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--history", required=True)
    parser.add_argument("--runs", default="runs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=40)
    parser.add_argument("--size", default="tiny")
    parser.add_argument("--validate-every", type=int, default=235, help="updates; 5 passes")
    parser.add_argument(
        "--models", nargs="+", default=["transformer", "lstmn", "simple-rnn+attention"]
    )
    given = parser.parse_args()
    print("| model | HR@10 | NDCG@10 |\n|---|---|---|")
    figures: dict[str, Any] = {}
    for model in given.models:
        found = []
        for seed in range(1, given.seeds + 1):
            folder = trained(given, model, seed)
            figures = evaluate(folder, folder.name)
            found.append(figures["rankings"][0])
            print(folder.name, figures["ahead"], file=sys.stderr, flush=True)
        print(f"| {model} | {cell(found, 'hr')} | {cell(found, 'ndcg')} |", flush=True)
    for each in figures["rankings"][1:]:
        hr, ndcg = (
            f"{each[key]['value']:.3f} ± {each[key]['error']:.3f}" for key in ("hr", "ndcg")
        )
        print(f"| {each['name']} | {hr} | {ndcg} |")


if __name__ == "__main__":
    main()
