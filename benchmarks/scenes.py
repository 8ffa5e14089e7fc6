"""Scenes: made images to cut into classes, of garments thrown onto a dark ground.

    python benchmarks/scenes.py --fashion /usr/share/datasets/fashion-mnist --to scenes

Writes scenes-train.npz and scenes-test.npz for ``regard train label --images``: 42 x 42 pixels, two
garments of Fashion-MNIST in each, where chance puts them, the later one before the earlier. The
garments of the test file are of the collection's own test part. Every pixel has a class: the
garment that it is of, or the ground. Nobody took these pictures: they are made.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from images import CLASSES
from numpy.typing import NDArray

from regard.train.data.images import read_images

SIDE, GARMENTS = 42, 2
GROUND = "ground"
BRIGHT = 20
"""From this value on a pixel belongs to its garment."""


def made(
    pixels: NDArray[np.uint8], labels: NDArray[np.int64], count: int, seed: int
) -> tuple[NDArray[np.uint8], NDArray[np.uint8]]:
    """``count`` scenes and the class of each of their pixels; 0 is the ground."""
    chance = np.random.default_rng(seed)
    scenes, classes = (np.zeros((count, SIDE, SIDE), np.uint8) for _ in range(2))
    size = pixels.shape[1]
    for scene, classed in zip(scenes, classes, strict=True):
        for which in chance.integers(len(pixels), size=GARMENTS).tolist():
            top, left = chance.integers(SIDE - size + 1, size=2).tolist()
            place = slice(top, top + size), slice(left, left + size)
            shown = pixels[which] >= BRIGHT
            scene[place][shown] = pixels[which][shown]
            classed[place][shown] = 1 + labels[which]
    return scenes, classes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--fashion", required=True, type=Path)
    parser.add_argument("--to", required=True, type=Path)
    parser.add_argument("--scenes", nargs=2, type=int, default=(4000, 1000))
    given = parser.parse_args()
    given.to.mkdir(parents=True, exist_ok=True)
    for seed, (part, files, count) in enumerate(
        zip(("train", "test"), ("train", "t10k"), given.scenes, strict=True)
    ):
        found = read_images(next(given.fashion.glob(f"{files}-images-idx3-ubyte*")))
        numbers = np.array([int(label) for label in found.labels])
        scenes, classes = made(found.pixels[..., 0], numbers, count, seed)
        file = given.to / f"scenes-{part}.npz"
        np.savez_compressed(file, images=scenes, labels=classes, names=[GROUND, *CLASSES])
        print(f"{file}: {count:,} scenes")


if __name__ == "__main__":
    main()
