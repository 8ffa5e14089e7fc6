"""Train, measure and pack the translators that come with regard: one command.

    python benchmarks/tatoeba.py --pairs deu.txt.gz --runs runs [--only bahdanau] [--ship]

``deu.txt.gz`` is the German-English file of manythings.org/anki (from tatoeba.org, CC-BY 2.0).
Two models train at a time, one core each; a run that was interrupted is resumed, a finished one
is only measured. Bahdanau's model and the Transformer are trained on, in runs that begin with the
weights of the one before (``STAGES``), or with the mean of several (``MEANS``), at last with
greetings and first sentences among the pairs (``phrases.tsv``), the Transformer then with what
``further.py`` has written to the folder ``further`` beside the runs; the one from English to German
begins with the Transformer in the package. It prints the figures of docs/results.md; ``--ship``
packs the models into the package, each with its card.

    … --stages 1      only the first runs, which are equal for all four: the table and its picture
"""

from __future__ import annotations

import argparse
import json
import shlex
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import torch

from regard.files import write_text
from regard.models.translators.translation import translate_texts
from regard.store.folder import RunFolder, load_translator
from regard.store.shipped import HOME, pack
from regard.store.weights import read_weights, unpacked, write_weights
from regard.train.data.config import PairsConfig
from regard.train.data.pairs import read_pairs
from regard.train.run.log import read_log
from regard.train.tasks.metrics import Bucket, Score, bleu, by_length, chrf
from regard.train.tasks.translate import Translate


@dataclass(frozen=True)
class Stage:
    """One run of a model; all but the first begin with the weights of the one before."""

    length: tuple[str, str]
    """The option that ends it: steps (the Transformer's cost more: it has fewer), or minutes."""
    rate: str
    seed: int
    warmup: int
    validate: int
    settings: tuple[str, ...] = ()
    precision: str = "float32"
    pairs: str = "split/train"
    """What it learns from: a table of pairs in the folder of runs, without its ending."""
    processes: int = 1
    """One core each; of two the batches are twice as large."""

    @property
    def phrases(self) -> bool:
        """Whether the lines of ``phrases.tsv`` are among the pairs, ``TIMES`` each."""
        return self.pairs != "split/train"

    @property
    def further(self) -> bool:
        """Whether it learns from what ``further.py`` found."""
        return self.pairs == WITH_FURTHER


def first(steps: int) -> Stage:
    """The run that is the same for all."""
    return Stage(("--steps", str(steps)), "3e-3", 1, 300, 500)


NAMES, MORE_NAMES, GREETINGS = "data.names=0.3", "data.names=0.5", "data.short=5"
LOW = "bfloat16"
WITH_PHRASES, WITH_FURTHER = "split/train-and-phrases", "further/train"


def phrases(steps: int, rate: str, seed: int) -> Stage:
    """A short run with the phrases; all validation pairs choose."""
    settings = "train.validate_at_most=2000", MORE_NAMES, GREETINGS
    return Stage(("--steps", str(steps)), rate, seed, 100, 400, settings, pairs=WITH_PHRASES)


def further(steps: int, rate: str, seed: int) -> Stage:
    """A run of two processes with pairs of ``further.py``, and a wider feed-forward network."""
    more = "train.validate_at_most=2000", "model.feedforward=768", NAMES, "data.short=2"
    length = "--steps", str(steps)
    return Stage(length, rate, seed, 100, steps // 10, more, LOW, WITH_FURTHER, 2)


REVERSED = "english-german"
"""The same pairs the other way: a Transformer."""
STAGES = {
    "word-by-word": (first(5200),),
    "encoder-decoder": (first(5200),),
    "bahdanau": (
        first(5200),
        Stage(("--minutes", "62"), "1e-3", 1, 100, 250, (NAMES,), LOW),
        Stage(("--minutes", "80"), "2e-3", 3, 100, 1000, (NAMES, GREETINGS), LOW),
        Stage(("--minutes", "40"), "1e-3", 5, 100, 500, (MORE_NAMES, GREETINGS)),
        Stage(("--minutes", "22"), "5e-4", 6, 100, 500, (MORE_NAMES, "data.short=10")),
        phrases(1600, "6e-4", 7),
        phrases(1600, "4e-4", 8),
    ),
    "transformer": (
        first(4700),
        Stage(("--minutes", "115"), "2e-3", 3, 100, 1000, (NAMES, GREETINGS), LOW),
        Stage(("--minutes", "40"), "1e-3", 5, 100, 500, (MORE_NAMES, GREETINGS)),
        phrases(2400, "8e-4", 7),
        phrases(1600, "5e-4", 8),
        further(8000, "2e-3", 9),
    ),
    REVERSED: (
        Stage(("--minutes", "115"), "2e-3", 3, 100, 1000, (NAMES, GREETINGS)),
        Stage(("--minutes", "60"), "2e-3", 4, 100, 1000, (MORE_NAMES, GREETINGS)),
        phrases(1600, "6e-4", 8),
    ),
}
MEANS = {("bahdanau", 5): {3: 0.25, 4: 0.25, 5: 0.5}}
"""By a model and how many of its runs are done: those, counted from 1, whose weights are added up,
and the share of each. What follows begins with the mean."""
EDGES = (4, 6, 8, 10, 13)
PHRASES = Path(__file__).parent / "phrases.tsv"
"""Greetings and first sentences, German and English, of which the collection has few."""
TIMES = 8
PHRASES_SAID = f"""
`{WITH_PHRASES}.tsv` has the lines of `benchmarks/phrases.tsv` among the pairs, {TIMES} times each:
greetings and first sentences, written for regard (Apache-2.0).
"""
FURTHER_SAID = """
`further/` has what `benchmarks/further.py` made of the test and development sets of the Tatoeba
Challenge (Helsinki-NLP; sentences of tatoeba.org too, CC-BY 2.0 France): {direct:,} pairs of
people, {third:,} that a third language joins, {said:,} German sentences with what Bahdanau's model
and the Transformer made of them, {back:,} English ones with what `english-german` made of them.
None has a sentence of the validation or test pairs.
"""
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
    """What is run: the table of pairs, the folder of runs, and how many of a model's stages."""

    pairs: str
    runs: Path
    most: int
    """Stages of a model at most."""

    def stages(self, model: str) -> tuple[Stage, ...]:
        return STAGES[model][: self.most]

    def folder(self, model: str, number: int) -> Path:
        """Of a stage, counted from 0."""
        return self.runs / f"tatoeba-{model}{f'-{number + 1}' if number else ''}"

    def after(self, model: str, done: int) -> Path:
        """The folder with the weights after so many runs."""
        mean = self.runs / f"tatoeba-{model}-mean-{done}"
        return mean if (model, done) in MEANS else self.folder(model, done - 1)

    def result(self, model: str) -> Path:
        """The folder of what came out."""
        return self.after(model, len(self.stages(model)))

    def data(self, model: str, stage: Stage) -> list[str]:
        """The options that name the pairs and say which way."""
        if model != REVERSED and not stage.phrases:
            return ["--pairs", self.pairs, "--reverse"]
        parts = {
            "--pairs": stage.pairs,
            "--valid-pairs": "split/valid",
            "--test-pairs": "split/test",
        }
        files = ((option, str(self.part(name))) for option, name in parts.items())
        way = ["--reverse"] if model == REVERSED else []
        return [*(word for pair in files for word in pair), *way]

    def part(self, name: str) -> Path:
        """The file of one part of the split, or of what further.py found."""
        return self.runs / f"{name}.tsv"

    def before(self, model: str, number: int) -> str | None:
        """The weights that a stage begins with."""
        if number:
            return str(self.after(model, number))
        return "transformer" if model == REVERSED else None


def write_split(plan: Plan) -> None:
    """The parts that German to English is trained and tested on, for the other way and for phrases.

    Which sentences are set aside depends on which side is the source, so the split is made once.
    A phrase that is set aside is none.
    """
    read = Translate().read(PairsConfig(pairs=plan.pairs, source_column=2, target_column=1))
    held = {text for pair in (*read.valid, *read.test) for text in pair.texts()}
    said = [pair for pair in read_pairs(PHRASES).rows if held.isdisjoint(pair.texts())]
    plan.part("split/train").parent.mkdir(parents=True, exist_ok=True)
    parts = {"split/train": read.train, "split/valid": read.valid, "split/test": read.test}
    parts[WITH_PHRASES] = [*read.train, *said * TIMES]
    for name, pairs in parts.items():
        write_text(plan.part(name), "".join(f"{pair.line()}\n" for pair in pairs))


def command(model: str, plan: Plan, number: int) -> list[str]:
    """The one command that trains ``model``, or trains it on."""
    stage = plan.stages(model)[number]
    before = plan.before(model, number)
    how = ["--from", before] if before else ["--vocabulary", "4000"]
    if stage.precision != "float32":
        how += ["--precision", stage.precision]
    settings = [
        "train.schedule=cosine",
        f"train.warmup={stage.warmup}",
        f"train.validate_every={stage.validate}",
        *stage.settings,
    ]
    alone = ["regard"]
    several = ["torch.distributed.run", "--nproc-per-node", str(stage.processes), "-m", "regard"]
    return [
        *(several if stage.processes > 1 else alone),
        *("train", "translate", *plan.data(model, stage)),
        *("--model", "transformer" if model == REVERSED else model, "--size", "small"),
        *(*how, *stage.length),
        *("--learning-rate", stage.rate, "--batch-tokens", str(2000 * stage.processes)),
        *("--patience", "0", "--seed", str(stage.seed), "--threads", "1"),
        *(part for setting in settings for part in ("--set", setting)),
        *("-o", str(plan.folder(model, number))),
    ]


def train(model: str, plan: Plan) -> None:
    """One stage after the other, then the mean of their weights."""
    stages = plan.stages(model)
    if model == REVERSED or any(stage.phrases for stage in stages):
        write_split(plan)
    for number in range(len(stages)):
        train_once(command(model, plan, number), RunFolder(plan.folder(model, number)))
        if (model, number + 1) in MEANS:
            add_up(model, plan, number + 1)


def train_once(words: list[str], folder: RunFolder) -> None:
    """Train, go on, or do nothing if it is done."""
    if folder.config.exists():
        if any(event["event"] == "end" for event in read_log(folder.log)):
            return
        words.append("--resume")
    subprocess.run([sys.executable, "-m", *words], check=True)


def add_up(model: str, plan: Plan, done: int) -> None:
    """The mean of the weights of several runs, in a folder that is otherwise the last run's."""
    weights = [
        (share, unpacked(read_weights(RunFolder(plan.folder(model, number - 1)).model)))
        for number, share in MEANS[model, done].items()
    ]
    last, mean = plan.folder(model, done - 1), plan.after(model, done)
    kept = shutil.ignore_patterns("checkpoints", "report.html")
    shutil.copytree(last, mean, ignore=kept, dirs_exist_ok=True)
    write_weights(
        RunFolder(mean).model,
        {
            name: torch.stack([share * run[name].double() for share, run in weights]).sum(0).float()
            for name in weights[0][1]
        },
    )


def measure(model: str, plan: Plan, packed: Path | None) -> Result:
    """BLEU and chrF of the test pairs, beam 5, as a whole and by source length."""
    folder = RunFolder(plan.result(model))
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


def means(model: str, done: int) -> str:
    """For a model's card: which weights were added up in its first runs."""
    return "".join(
        f"After run {number} the mean was taken: "
        + "; ".join(f"run {one} counts {share:g}" for one, share in shares.items())
        + ".\n"
        for (name, number), shares in MEANS.items()
        if name == model and number <= done
    )


def beside(model: str, plan: Plan) -> str:
    """For a model's card: what else it was trained on."""
    stages = plan.stages(model)
    found = PHRASES_SAID if any(stage.phrases for stage in stages) else ""
    if any(stage.further for stage in stages):
        kinds = ("direct", "third", "said", "back")
        rows = {kind: len(read_pairs(plan.part(f"further/{kind}")).rows) for kind in kinds}
        found += FURTHER_SAID.format(**rows)
    return found


def card(result: Result, plan: Plan) -> str:
    """What comes with a packed model: where it is from and how good it is."""
    shown = replace(plan, pairs=Path(plan.pairs).name, runs=Path("runs"))
    numbers = range(len(plan.stages(result.model)))
    words = "\n    ".join(shlex.join(command(result.model, shown, n)) for n in numbers)
    words = words.replace("torch.distributed.run", "torchrun")
    events = read_log(RunFolder(plan.result(result.model)).log)
    data = next(e for e in events if e["event"] == "data")
    short = "data.short="
    often = [s for s in plan.stages(result.model)[-1].settings if s.startswith(short)]
    counted = "".join(
        f" (those of at most three words {s.removeprefix(short)} times)" for s in often
    )
    minutes = f"{result.end['seconds'] / 60:.0f} minutes"
    rows = "\n".join(f"| {_span(b)} | {b.sentences} | {b.bleu:.1f} |" for b in result.buckets)
    way = "English to German" if result.model == REVERSED else "German to English"
    return f"""# {"transformer" if result.model == REVERSED else result.model}, {way}

{result.parameters:,} parameters; matrices stored in 8 bits with a scale a row. Made by regard.

## Data

Sentence pairs of tatoeba.org, as the German-English file of manythings.org/anki (2018-05-13),
licence CC-BY 2.0 (France): the sentences are by the contributors of tatoeba.org. {data["train"]:,}
pairs to train on{counted}, {data["valid"]:,} to validate, {data["test"]:,} to test; all pairs that
share a sentence are on one side of the split (`data.split_seed` 0).
{beside(result.model, plan)}
## Training

    {words}

The last command made {result.end["step"]:,} updates in {minutes} on the clock, one thread for
each process.
{means(result.model, len(numbers))}`benchmarks/tatoeba.py` runs this, measures and packs.

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
    parser.add_argument("--only", choices=STAGES, action="append")
    most = max(map(len, STAGES.values()))
    parser.add_argument("--stages", type=int, default=most, metavar="N")
    parser.add_argument("--ship", action="store_true", help="pack the models into the package")
    given = parser.parse_args()
    four = [model for model in STAGES if model != REVERSED]
    models = given.only or (four if given.stages == 1 else list(STAGES))
    plan = Plan(given.pairs, given.runs, given.stages)
    with ThreadPoolExecutor(2) as two:
        list(two.map(lambda model: train(model, plan), models))
    for model in models if given.ship else []:
        size = pack(plan.result(model), HOME / model)
        print(f"{model}: {size / 1e6:.1f} MB")
    results = [measure(m, plan, HOME / m if given.ship else None) for m in models]
    for back in (False, True):  # how long sentences are depends on the language
        if those := [result for result in results if (result.model == REVERSED) == back]:
            print(table(those))
    print(json.dumps({"signatures": [results[0].bleu.signature, results[0].chrf.signature]}))
    if given.stages == 1 and not given.only:
        draw(results)
    for result in results if given.ship else []:
        write_text(HOME / result.model / "card.md", card(result, plan))


if __name__ == "__main__":
    main()
