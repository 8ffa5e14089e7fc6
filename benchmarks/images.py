"""Images: a Transformer over patches, convolutions of the same size, and averaged patches.

    python benchmarks/images.py --images digits.npz --runs runs [--seeds 3] [--epochs 20]

Trains each design on 10 and 100 % of the training images (``--shares``), with several seeds, and
prints the accuracy on the test part: the mean, and the least and the most of the seeds. A run that
is finished is only measured.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import numpy as np

from regard.models.images import IMAGE_DESIGNS
from regard.store.folder import load_image_classifier
from regard.train.tasks.evaluate import evaluate


def trained(given: argparse.Namespace, model: str, share: float, seed: int) -> Path:
    """The folder of one run, trained if it is not there."""
    folder = Path(given.runs) / f"{model}-{share:g}-{seed}"
    if not (folder / "model.safetensors").exists():
        subprocess.run(
            [
                *(sys.executable, "-m", "regard", "train", "classify"),
                *("--images", given.images, "--model", model, "--size", given.size),
                *("--train-share", f"{share:g}", "--epochs", str(round(given.epochs / share**0.5))),
                *("--seed", str(seed), "--threads", "1", "--patience", "0", "-o", str(folder)),
            ],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--images", required=True)
    parser.add_argument("--runs", default="runs")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=20, help="of all images; more of fewer")
    parser.add_argument("--size", default="small")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 1.0])
    given = parser.parse_args()
    print(f"| model | parameters | {' | '.join(f'{s:.0%} of the images' for s in given.shares)} |")
    print("|---" * (2 + len(given.shares)) + "|")
    for model in IMAGE_DESIGNS:
        cells, size = [], 0
        for share in given.shares:
            folders = [trained(given, model, share, seed) for seed in range(1, given.seeds + 1)]
            found = [100 * evaluate(folder, folder.name)["accuracy"] for folder in folders]
            size = sum(p.numel() for p in load_image_classifier(folders[0]).parameters())
            cells.append(f"{np.mean(found):.1f} ({min(found):.1f}–{max(found):.1f})")
        print(f"| {model} | {size:,} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
