"""What PP-OCR's recogniser reads of drawn lines, what its columns look at, and the proof.

    python benchmarks/ocr.py --lines 40 --seed 1

Lines of words from regard's own pages are drawn in DejaVu Sans.
"""

from __future__ import annotations

import argparse
import random
import re
import tempfile
from collections import defaultdict
from pathlib import Path

import numpy as np
from PIL import Image, ImageDraw, ImageFont

import regard
from regard.inside.find import find
from regard.inside.ocrmodel import OcrModel, load_ocr

DOCS = Path(__file__).parents[1] / "docs"


def lines(count: int, seed: int) -> list[str]:
    """Two to five words each."""
    words = re.findall(r"[A-Za-z]{2,10}", (DOCS / "attention.md").read_text(encoding="utf-8"))
    chance = random.Random(seed)
    return [" ".join(chance.choices(words, k=chance.randint(2, 5))) for _ in range(count)]


def draw(text: str, file: Path) -> None:
    import matplotlib

    fonts = Path(matplotlib.get_data_path()) / "fonts" / "ttf"
    font = ImageFont.truetype(str(fonts / "DejaVuSans.ttf"), 30)
    image = Image.new("RGB", (round(font.getlength(text)) + 16, 48), "white")
    ImageDraw.Draw(image).text((8, 6), text, font=font, fill="black")
    image.save(file)


def shares(model: OcrModel, file: Path) -> dict[str, float]:
    """Of all weight, and of all columns: what goes to the column itself and its neighbours, to the
    two at each end, and to columns where a letter is said."""
    read = model.read(str(file))
    with regard.observe(model.network) as seen:
        model.run(read.pieces)
    letters = np.array([" " in label for label in read.pieces.labels])
    n = len(letters)
    apart = np.abs(np.arange(n)[:, None] - np.arange(n))
    ends = (np.arange(n) < 2) | (np.arange(n) >= n - 2)
    masks = {"near": apart <= 1, "ends": np.tile(ends, (n, 1)), "letters": np.tile(letters, (n, 1))}
    weights = np.array([[seen[la, h].dense().numpy() for h in range(8)] for la in range(2)])
    found = {f"{name}, even": float(mask.mean()) for name, mask in masks.items()}
    for name, mask in masks.items():
        for layer in range(2):
            found[f"{name}, layer {layer}"] = float((weights[layer] * mask).sum(-1).mean())
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    model = load_ocr(find("ocr"))
    right, apart = 0, [0.0, 0.0]
    sums: dict[str, float] = defaultdict(float)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "line.png"
        for text in lines(options.lines, options.seed):
            draw(text, file)
            for name, share in shares(model, file).items():
                sums[name] += share
            right += model.said[0].startswith(f"reads: {text}   ")
            proof = model.network.proof(x=model.line)
            apart = [max(apart[0], proof.weights), max(apart[1], proof.outputs)]
    print(f"{right} of {options.lines} lines read without a mistake")
    print(f"largest difference of a weight {apart[0]:.1e}, of a probability {apart[1]:.1e}")
    for name, total in sorted(sums.items()):
        print(f"{name:<20} {total / options.lines:.1%}")


if __name__ == "__main__":
    main()
