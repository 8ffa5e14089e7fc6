"""Train, measure and pack the translators that come with regard: the four designs, one command.

    python benchmarks/tatoeba.py --pairs deu.txt.gz --runs runs [--only bahdanau] [--ship]

``deu.txt.gz`` is the German-English file of manythings.org/anki (from tatoeba.org, CC-BY 2.0).
Two models train at a time, one core each; a run that was interrupted is resumed, a finished one
is only measured. It prints the figures of docs/results.md and draws its picture; ``--ship`` packs
the models into the package, each with its card.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from regard.files import write_text
from regard.models.translators.translation import translate_texts
from regard.store.folder import RunFolder, load_translator
from regard.store.shipped import HOME, pack
from regard.train.data.pairs import read_pairs
from regard.train.run.log import read_log
from regard.train.tasks.metrics import Bucket, Score, bleu, by_length, chrf

STEPS = {"word-by-word": 5200, "encoder-decoder": 5200, "bahdanau": 5200, "transformer": 4700}
"""Updates; the Transformer's cost more, so that it has fewer."""
EDGES = (4, 6, 8, 10, 13)
PICTURE = Path(__file__).parent.parent / "docs" / "images" / "length.png"


@dataclass(frozen=True)
class Result:
    """What is known of one finished run."""

    model: str
    parameters: int
    minutes: float
    bleu: Score
    chrf: Score
    buckets: list[Bucket]


def command(model: str, pairs: str, runs: Path) -> list[str]:
    """The one command that trains ``model``."""
    settings = ("train.schedule=cosine", "train.warmup=300", "train.validate_every=500")
    return [
        *("regard", "train", "translate", "--pairs", pairs, "--reverse"),
        *("--model", model, "--size", "small", "--vocabulary", "4000"),
        *("--steps", str(STEPS[model]), "--batch-tokens", "2000", "--learning-rate", "3e-3"),
        *("--patience", "0", "--seed", "1", "--threads", "1"),
        *(part for setting in settings for part in ("--set", setting)),
        *("-o", str(runs / f"tatoeba-{model}")),
    ]


def train(model: str, pairs: str, runs: Path) -> None:
    """Train, go on, or do nothing if it is done."""
    words, folder = command(model, pairs, runs), RunFolder(runs / f"tatoeba-{model}")
    if folder.config.exists():
        if any(event["event"] == "end" for event in read_log(folder.log)):
            return
        words.append("--resume")
    subprocess.run([sys.executable, "-m", *words], check=True)


def measure(model: str, runs: Path, packed: Path | None) -> Result:
    """BLEU and chrF of the test pairs, beam 5, as a whole and by source length."""
    folder = RunFolder(runs / f"tatoeba-{model}")
    translator, tokens = load_translator(packed or folder.path)
    held = read_pairs(folder.test).pairs
    sources, references = [p.source for p in held], [p.target for p in held]
    said = [t.text for t in translate_texts(translator, tokens, sources)]
    events = read_log(folder.log)
    return Result(
        model,
        next(e["parameters"] for e in events if e["event"] == "data"),
        next(e["seconds"] for e in reversed(events) if e["event"] == "end") / 60,
        bleu(said, references),
        chrf(said, references),
        by_length(sources, said, references, EDGES),
    )


def table(results: list[Result]) -> str:
    """The figures as Markdown."""
    spans = [_span(b) for b in results[0].buckets]
    counts = " | ".join(
        f"{s} ({b.sentences})" for s, b in zip(spans, results[0].buckets, strict=True)
    )
    lines = [
        f"| model | parameters | minutes | BLEU | chrF | {counts} |",
        "|---" * (5 + len(spans)) + "|",
    ]
    for r in results:
        cells = " | ".join(f"{b.bleu:.1f}" for b in r.buckets)
        lines.append(
            f"| {r.model} | {r.parameters:,} | {r.minutes:.0f} "
            f"| {r.bleu.value:.1f} | {r.chrf.value:.1f} | {cells} |"
        )
    return "\n".join(lines)


def draw(results: list[Result]) -> None:
    """BLEU against source length, a line a model."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 4.2), layout="constrained")
    axes = figure.subplots()
    for r in results:
        axes.plot(range(len(r.buckets)), [b.bleu for b in r.buckets], marker="o", label=r.model)
    labels = [f"{_span(b)}\n({b.sentences})" for b in results[0].buckets]
    axes.set_xticks(range(len(labels)), labels)
    axes.set(xlabel="words in the German sentence (sentences)", ylabel="BLEU", ylim=(0, None))
    axes.set_title("Held-out Tatoeba, German to English: attention holds on longer than one vector")
    axes.grid(alpha=0.3)
    axes.spines[["top", "right"]].set_visible(False)
    axes.legend(frameon=False)
    figure.savefig(PICTURE, dpi=110)


def card(result: Result, pairs: str, runs: Path) -> str:
    """What comes with a packed model: where it is from and how good it is."""
    words = shlex.join(command(result.model, Path(pairs).name, Path("runs")))
    events = read_log(RunFolder(runs / f"tatoeba-{result.model}").log)
    data = next(e for e in events if e["event"] == "data")
    rows = "\n".join(f"| {_span(b)} | {b.sentences} | {b.bleu:.1f} |" for b in result.buckets)
    return f"""# {result.model}, German to English

{result.parameters:,} parameters; matrices stored in 8 bits with a scale a row. Made by regard.

## Data

Sentence pairs of tatoeba.org, as the German-English file of manythings.org/anki (2018-05-13),
licence CC-BY 2.0 (France): the sentences are by the contributors of tatoeba.org. {data["train"]:,}
pairs to train on, {data["valid"]:,} to validate, {data["test"]:,} to test; all pairs that share a
sentence are on one side of the split (`data.split_seed` 0).

## Training

    {words}

seed 1, {STEPS[result.model]:,} updates, {result.minutes:.0f} minutes on one core of a machine
that trained another model on its other core. `benchmarks/tatoeba.py` runs it, measures and packs.

## Quality

Test pairs, these packed weights, beam 5: BLEU {result.bleu.value:.1f} ({result.bleu.signature}),
chrF {result.chrf.value:.1f} ({result.chrf.signature}).

| words in source | sentences | BLEU |
|---|---|---|
{rows}

## Limits

Short everyday sentences, like those of the collection; one machine, one seed. It is made for
looking at how such a model works, not for translating what matters.
"""


def _span(bucket: Bucket) -> str:
    return f"{bucket.least}-{bucket.most}" if bucket.most else f"{bucket.least}+"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", required=True, metavar="FILE")
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--only", choices=STEPS, action="append")
    parser.add_argument("--ship", action="store_true", help="pack the models into the package")
    given = parser.parse_args()
    models = given.only or list(STEPS)
    with ThreadPoolExecutor(2) as two:
        list(two.map(lambda model: train(model, given.pairs, given.runs), models))
    for model in models if given.ship else []:
        size = pack(given.runs / f"tatoeba-{model}", HOME / model)
        print(f"{model}: {size / 1e6:.1f} MB")
    results = [measure(m, given.runs, HOME / m if given.ship else None) for m in models]
    print(table(results))
    print(json.dumps({"signatures": [results[0].bleu.signature, results[0].chrf.signature]}))
    if not given.only:
        draw(results)
    for result in results if given.ship else []:
        write_text(HOME / result.model / "card.md", card(result, given.pairs, given.runs))


if __name__ == "__main__":
    main()
