"""Labels: every design of a labeller beside the commonest label and the piece alone.

    python benchmarks/labels.py --runs runs/tags [--seeds 3] [--designs alone transformer] \\
        -- --data en-train.conllu --valid en-dev.conllu --test en-test.conllu --size tiny

What stands behind ``--`` goes to ``regard train label`` as it is. Trains each design with several
seeds and prints the shares of right labels on the test part: the mean, and the least and the most
of the seeds. A run that is finished is only measured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

from regard.models.labeller import LABELLERS, LabellerConfig, parameters
from regard.store.folder import RunFolder
from regard.train.run.log import read_log
from regard.train.tasks.evaluate import evaluate

MEASURES = {"accuracy": "accuracy", "known": "known", "unknown": "unknown", "iou": "IoU"}


def trained(given: argparse.Namespace, model: str, seed: int) -> Path:
    """The folder of one run, trained if it is not there."""
    folder = Path(given.runs) / f"{model}-{seed}"
    done = (folder / "report.html").exists()  # the last thing that a run writes
    if not done:
        resume = ["--resume"] if (folder / "config.json").exists() else []
        subprocess.run(
            [
                *(sys.executable, "-m", "regard", "train", "label", *given.options),
                *("--model", model, "--seed", str(seed), "--threads", "1", "-o", str(folder)),
                *resume,
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return folder


def row(name: str, size: str, found: list[dict[str, Any]], seconds: str) -> str:
    """A line of the table: of several seeds the mean, and from where to where they go."""
    cells = []
    for measure in MEASURES:
        values = [100 * each[measure] for each in found if measure in each]
        if not values:
            continue
        span = f" ({min(values):.2f}–{max(values):.2f})" if len(values) > 1 else ""
        cells.append(f"{np.mean(values):.2f}{span}")
    return f"| {name} | {size} | {' | '.join(cells)} | {seconds} |"


def took(folders: list[Path]) -> str:
    """Seconds on the clock of a run, on average."""
    ends = [
        event["seconds"]
        for folder in folders
        for event in read_log(RunFolder(folder).log)
        if event.get("event") == "end" and "seconds" in event
    ]
    return f"{np.mean(ends):.0f} s" if ends else "–"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", default="runs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--designs", nargs="+", default=list(LABELLERS), choices=LABELLERS)
    parser.add_argument("options", nargs="*", help="of regard train label, behind --")
    given = parser.parse_args()
    for number, model in enumerate(given.designs):
        folders = [trained(given, model, seed) for seed in range(1, given.seeds + 1)]
        found = [evaluate(folder, folder.name)["ways"] for folder in folders]
        if number == 0:
            shown = [title for key, title in MEASURES.items() if key in found[0][-1]]
            print(f"| model | parameters | {' | '.join(shown)} | time |", flush=True)
            print("|---" * (len(shown) + 3) + "|")
            for baseline in found[0][:-1]:
                print(row(baseline["name"], "–", [baseline], "–"))
        config = LabellerConfig.from_dict(RunFolder(folders[0]).read_config()["model"])
        own = [each[-1] for each in found]
        print(row(model, f"{parameters(config):,}", own, took(folders)), flush=True)


if __name__ == "__main__":
    main()
