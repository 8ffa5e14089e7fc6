"""Images: a Transformer over patches, convolutions of the same size, and averaged patches.

    python benchmarks/images.py --images digits.npz --runs runs/digits
    python benchmarks/images.py --fashion /usr/share/datasets/fashion-mnist --runs runs/fashion \\
        --shares .01 .1 1 --epochs 12 --picture docs/images/fashion-curve.png [--ship]

Trains each design on some shares of the training images, with several seeds, all settings equal,
and prints the accuracy on the test part: the mean, and the least and the most of the seeds. A run
that is finished is only measured, one that was interrupted goes on. ``--fashion`` reads the IDX
files of Debian's package dataset-fashion-mnist and gives its ten classes their names. ``--ship``
packs the Transformer over patches that was best on the validation part into the package.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from regard.files import write_text
from regard.live.examples import IMAGES
from regard.models.images import IMAGE_DESIGNS, usual_patch
from regard.store.folder import RunFolder, load_image_classifier
from regard.store.shipped import HOME, pack
from regard.train.data.images import read_images
from regard.train.run.log import read_log
from regard.train.tasks.evaluate import evaluate

CLASSES = [
    *("T-shirt", "trouser", "pullover", "dress", "coat"),
    *("sandal", "shirt", "sneaker", "bag", "ankle boot"),
]
"""Of Fashion-MNIST, by its numbers."""
SHIPPED = "fashion"
EXAMPLES = ("ankle boot", "trouser", "dress", "bag", "shirt")
"""Classes of which the first test image comes with the shipped model."""
AT_ONCE = 64
"""Images of a batch."""


@dataclass(frozen=True)
class Counted:
    """How many images there are, and how many patches each has."""

    images: int
    patches: int


@dataclass(frozen=True)
class Plan:
    """What is trained on what."""

    images: str
    test: str | None
    runs: Path
    epochs: int
    size: str
    of: Counted

    def folder(self, model: str, share: float, seed: int) -> Path:
        return self.runs / f"{model}-{share:g}-{seed}"

    def command(self, model: str, share: float, seed: int) -> list[str]:
        """Fewer images are seen more often, and each run is validated twelve times."""
        passes = round(self.epochs / share**0.5)
        updates = passes * share * (0.9 if self.test else 0.8) * self.of.images / AT_ONCE
        return [
            *("regard", "train", "classify", "--images", self.images),
            *(("--test", self.test) if self.test else ()),
            *("--model", model, "--size", self.size, "--train-share", f"{share:g}"),
            *("--epochs", str(passes), "--batch-tokens", str(AT_ONCE * self.of.patches)),
            *("--set", f"train.validate_every={max(1, round(updates / 12))}"),
            *("--seed", str(seed), "--threads", "1", "--patience", "0"),
            *("-o", str(self.folder(model, share, seed))),
        ]

    def train(self, model: str, share: float, seed: int) -> None:
        """Train, go on, or do nothing if it is done."""
        words, folder = self.command(model, share, seed), self.folder(model, share, seed)
        if is_finished(folder):
            return
        if RunFolder(folder).config.exists():
            words.append("--resume")
        subprocess.run([sys.executable, "-m", *words], check=True, stdout=subprocess.DEVNULL)


def is_finished(folder: Path) -> bool:
    """Whether a run came to its end."""
    log = RunFolder(folder).log
    return log.exists() and any(event["event"] == "end" for event in read_log(log))


@dataclass(frozen=True)
class Result:
    """What one design made of one share of the images, a figure a seed."""

    model: str
    share: float
    images: int
    parameters: int
    seconds: list[float]
    accuracy: list[float]

    def __str__(self) -> str:
        mean, least, most = np.mean(self.accuracy), min(self.accuracy), max(self.accuracy)
        return f"{mean:.1f} ({least:.1f}–{most:.1f})" if len(self.accuracy) > 1 else f"{mean:.1f}"


def counted(images: str) -> Counted:
    """Of an npz file."""
    with np.load(images) as content:
        count, rows, columns = content["images"].shape[:3]
    patch = usual_patch(rows, columns)
    return Counted(count, rows // patch * (columns // patch))


def measured(plan: Plan, model: str, share: float, seeds: range) -> Result:
    """The accuracy on the test part and the time that training took, of runs that ended."""
    folders = [plan.folder(model, share, seed) for seed in seeds]
    folders = [folder for folder in folders if is_finished(folder)]
    logs = [read_log(RunFolder(folder).log) for folder in folders]
    data = next(event for event in logs[0] if event["event"] == "data")
    ends = [next(e for e in reversed(log) if e["event"] == "end") for log in logs]
    accuracy = [100 * evaluate(folder, folder.name)["accuracy"] for folder in folders]
    seconds = [float(end["seconds"]) for end in ends]
    return Result(model, share, data["train"], data["parameters"], seconds, accuracy)


def table(results: list[Result]) -> str:
    """A row a design, a column a share."""
    sizes = {result.share: result.images for result in results}
    heads = " | ".join(f"{share:.0%}: {count:,} images" for share, count in sizes.items())
    lines = [f"| design | parameters | {heads} | minutes |", "|---" * (3 + len(sizes)) + "|"]
    for model in dict.fromkeys(result.model for result in results):
        row = [result for result in results if result.model == model]
        minutes = np.mean(row[-1].seconds) / 60
        cells = " | ".join(map(str, row))
        lines.append(f"| {model} | {row[0].parameters:,} | {cells} | {minutes:.1f} |")
    return "\n".join(lines)


def draw(results: list[Result], path: str) -> None:
    """Accuracy against the number of training images, a line a design, a dot a seed."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    for model in dict.fromkeys(result.model for result in results):
        row = [result for result in results if result.model == model]
        counts = [result.images for result in row]
        (line,) = axes.plot(counts, [np.mean(r.accuracy) for r in row], marker="o", label=model)
        for result in row:
            axes.plot(
                [result.images] * len(result.accuracy), result.accuracy, "_", color=line.get_color()
            )
    axes.set(xscale="log", xlabel="images to train on", ylabel="right of 100 test images")
    axes.set_xticks(counts, [f"{count:,}" for count in counts])
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(path, dpi=110)


def fashion(folder: Path, runs: Path) -> tuple[str, str]:
    """The package's IDX files as npz files with the classes' names, to train and to test on."""
    runs.mkdir(parents=True, exist_ok=True)
    made = []
    for part, name in (("train", "train"), ("t10k", "test")):
        path = runs / f"{name}.npz"
        made.append(str(path))
        if not path.exists():
            read = read_images(folder / f"{part}-images-idx3-ubyte.gz")
            names = np.array([CLASSES[int(label)] for label in read.labels])
            np.savez_compressed(path, images=read.pixels[..., 0], labels=names)
    return made[0], made[1]


def ship(plan: Plan, share: float, seeds: range) -> None:
    """Pack the patches' run that validated best, measure it again, and write its card."""

    def score(seed: int) -> float:
        events = read_log(RunFolder(plan.folder("patches", share, seed)).log)
        return max(float(event.get("score", 0)) for event in events if event["event"] == "valid")

    ended = [seed for seed in seeds if is_finished(plan.folder("patches", share, seed))]
    seed = max(ended, key=score)
    run, home = plan.folder("patches", share, seed), HOME / SHIPPED
    size = pack(run, home)
    found = evaluate(home, SHIPPED, images=plan.test)
    result = measured(plan, "patches", share, range(seed, seed + 1))
    numbers = first_of(plan.test, EXAMPLES, home / IMAGES)
    text = card(plan, result, seed, found["accuracy"], found["recall"], numbers)
    write_text(home / "card.md", text)
    print(f"{SHIPPED}: seed {seed}, {size / 1e6:.2f} MB, packed {100 * found['accuracy']:.2f} %")


def first_of(test: str | None, names: Sequence[str], to: Path) -> list[int]:
    """Write the first test image of each class in ``names``; their numbers."""
    assert test is not None, "--ship is for Fashion-MNIST, which has images to test on"
    with np.load(test) as content:
        images, labels = content["images"], content["labels"].tolist()
    numbers = [labels.index(name) for name in names]
    np.savez_compressed(to, images=images[numbers], labels=np.array(names))
    return numbers


def card(
    plan: Plan,
    result: Result,
    seed: int,
    accuracy: float,
    recall: list[float],
    numbers: Sequence[int],
) -> str:
    """What comes with the packed model: where it is from and how good it is."""
    shown = replace(plan, images="train.npz", test="test.npz", runs=Path("runs"))
    labels = load_image_classifier(HOME / SHIPPED).config.labels
    rows = "\n".join(f"| {n} | {100 * r:.1f} |" for n, r in zip(labels, recall, strict=True))
    return f"""# {SHIPPED}: which garment an image shows

A Transformer over 7 × 7 patches of 4 × 4 pixels, {result.parameters:,} parameters; matrices stored
in 8 bits with a scale a row. Made by regard.

## Data

Fashion-MNIST by Zalando Research (Debian package dataset-fashion-mnist), licence MIT (Expat):
grey images of 28 × 28 pixels, bright on black, ten classes. {result.images:,} to train on, 6,002 to
validate, the collection's own 10,000 to test. Five of its test images come with the model as
examples (`{IMAGES}`; the first {", ".join(EXAMPLES[:-1])} and {EXAMPLES[-1]}, numbers
{", ".join(map(str, numbers[:-1]))} and {numbers[-1]}). Copyright 2017 Zalando SE.

## Training

    {shlex.join(shown.command("patches", result.share, seed))}

seed {seed}, {result.seconds[0] / 60:.0f} minutes on the clock with one thread, on a machine with
other work. `benchmarks/images.py --fashion … --ship` runs it, measures and packs.

## Quality

Test images, these packed weights: {100 * accuracy:.2f} % right. Of each class:

| class | % found |
|---|---|
{rows}

## Limits

One garment, alone, bright on black, upright and filling the frame, as in the collection: of a
photograph from a street it says one of its ten words too, and with as much confidence. It is made
for looking at how such a model works.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    what = parser.add_mutually_exclusive_group(required=True)
    what.add_argument("--images", metavar="NPZ")
    what.add_argument("--fashion", type=Path, metavar="DIR")
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=20, help="of all images; more of fewer")
    parser.add_argument("--size", default="small")
    parser.add_argument("--shares", type=float, nargs="+", default=[0.1, 1.0])
    parser.add_argument("--designs", nargs="+", default=list(IMAGE_DESIGNS), choices=IMAGE_DESIGNS)
    parser.add_argument("--picture", metavar="PNG")
    parser.add_argument("--measure", action="store_true", help="train nothing: what ended alone")
    parser.add_argument("--ship", action="store_true", help="pack the best one into the package")
    given = parser.parse_args()
    images, test = fashion(given.fashion, given.runs) if given.fashion else (given.images, None)
    plan = Plan(images, test, given.runs, given.epochs, given.size, counted(images))
    seeds = range(1, given.seeds + 1)
    for seed in () if given.measure else seeds:
        for share in sorted(given.shares, reverse=True):
            for model in given.designs:
                plan.train(model, share, seed)
    results = [measured(plan, m, share, seeds) for m in given.designs for share in given.shares]
    print(table(results))
    if given.picture:
        draw(results, given.picture)
    if given.ship:
        ship(plan, max(given.shares), seeds)


if __name__ == "__main__":
    main()
