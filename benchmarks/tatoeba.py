"""Train, measure and pack the translators that come with regard: the four designs, one command.

    python benchmarks/tatoeba.py --pairs deu.txt.gz --runs runs [--only bahdanau] [--ship]

``deu.txt.gz`` is the German-English file of manythings.org/anki (from tatoeba.org, CC-BY 2.0).
Two models train at a time, one core each; a run that was interrupted is resumed, a finished one
is only measured. It prints the figures of docs/results.md and draws its picture; ``--ship`` packs
the models into the package, each with its card.

    … --longer 75 [--first shipped]

trains each on in a second run of so many minutes, with made-up names and products in bfloat16, and
measures and packs that one; ``--first shipped`` begins it with the models in the package instead of
a first run.
"""

from __future__ import annotations

import argparse
import json
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

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
    end: dict[str, Any]
    """The last line of its log: updates and seconds."""
    bleu: Score
    chrf: Score
    buckets: list[Bucket]


@dataclass(frozen=True)
class Plan:
    """What is run: the table of pairs, the folder of runs, and the second run, if there is one."""

    pairs: str
    runs: Path
    longer: float
    """Minutes of the second run; 0 = there is none."""
    shipped: bool
    """Whether it begins with the model in the package."""

    def folder(self, model: str, second: bool | None = None) -> Path:
        """Of the first or the ``second`` run; if it is not said, of the last one."""
        second = bool(self.longer) if second is None else second
        return self.runs / f"tatoeba-{model}{'-longer' if second else ''}"


def command(model: str, plan: Plan, second: bool) -> list[str]:
    """The one command that trains ``model``, or trains it on."""
    how = ["--vocabulary", "4000", "--steps", str(STEPS[model]), "--learning-rate", "3e-3"]
    settings = ["train.schedule=cosine", "train.warmup=300", "train.validate_every=500"]
    if second:
        start = model if plan.shipped else str(plan.folder(model, second=False))
        # A smaller step than the first run's: what it has learned is kept.
        how = ["--from", start, "--minutes", f"{plan.longer:g}", "--learning-rate", "1e-3"]
        how += ["--precision", "bfloat16"]
        settings = ["train.schedule=cosine", "train.warmup=100", "train.validate_every=250"]
        settings.append("data.names=0.3")
    return [
        *("regard", "train", "translate", "--pairs", plan.pairs, "--reverse"),
        *("--model", model, "--size", "small", *how, "--batch-tokens", "2000"),
        *("--patience", "0", "--seed", "1", "--threads", "1"),
        *(part for setting in settings for part in ("--set", setting)),
        *("-o", str(plan.folder(model, second))),
    ]


def train(model: str, plan: Plan) -> None:
    """The first run, unless it is not needed, and the second, if it is wanted."""
    if not (plan.longer and plan.shipped):
        train_once(command(model, plan, False), RunFolder(plan.folder(model, False)))
    if plan.longer:
        train_once(command(model, plan, True), RunFolder(plan.folder(model, True)))


def train_once(words: list[str], folder: RunFolder) -> None:
    """Train, go on, or do nothing if it is done."""
    if folder.config.exists():
        if any(event["event"] == "end" for event in read_log(folder.log)):
            return
        words.append("--resume")
    subprocess.run([sys.executable, "-m", *words], check=True)


def measure(model: str, plan: Plan, packed: Path | None) -> Result:
    """BLEU and chrF of the test pairs, beam 5, as a whole and by source length."""
    folder = RunFolder(plan.folder(model))
    translator, tokens = load_translator(packed or folder.path)
    held = read_pairs(folder.test).rows
    sources, references = [p.source for p in held], [p.target for p in held]
    said = [t.text for t in translate_texts(translator, tokens, sources)]
    events = read_log(folder.log)
    return Result(
        model,
        next(e["parameters"] for e in events if e["event"] == "data"),
        next(e for e in reversed(events) if e["event"] == "end"),
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
            f"| {r.model} | {r.parameters:,} | {r.end['seconds'] / 60:.0f} "
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


def card(result: Result, plan: Plan) -> str:
    """What comes with a packed model: where it is from and how good it is."""
    shown = replace(plan, pairs=Path(plan.pairs).name, runs=Path("runs"), shipped=False)
    stages = (False, True) if plan.longer else (False,)
    words = "\n    ".join(shlex.join(command(result.model, shown, second)) for second in stages)
    events = read_log(RunFolder(plan.folder(result.model)).log)
    data = next(e for e in events if e["event"] == "data")
    on = f", then {result.end['step']:,} more from there" if plan.longer else ""
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

seed 1, {STEPS[result.model]:,} updates{on}; the last command took
{result.end["seconds"] / 60:.0f} minutes on the clock with one thread, on a machine with other work.
`benchmarks/tatoeba.py` runs this, measures and packs.

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
    parser.add_argument("--longer", type=float, default=0, metavar="MINUTES")
    parser.add_argument("--first", choices=("run", "shipped"), default="run")
    parser.add_argument("--ship", action="store_true", help="pack the models into the package")
    given = parser.parse_args()
    models = given.only or list(STEPS)
    plan = Plan(given.pairs, given.runs, given.longer, given.first == "shipped")
    with ThreadPoolExecutor(2) as two:
        list(two.map(lambda model: train(model, plan), models))
    for model in models if given.ship else []:
        size = pack(plan.folder(model), HOME / model)
        print(f"{model}: {size / 1e6:.1f} MB")
    results = [measure(m, plan, HOME / m if given.ship else None) for m in models]
    print(table(results))
    print(json.dumps({"signatures": [results[0].bleu.signature, results[0].chrf.signature]}))
    if not given.only:
        draw(results)
    for result in results if given.ship else []:
        write_text(HOME / result.model / "card.md", card(result, plan))


if __name__ == "__main__":
    main()
