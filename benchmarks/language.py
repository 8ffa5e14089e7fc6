"""Train and measure the language models and classifiers of docs/results.md, each by one command.

    python benchmarks/language.py tatoeba deu.txt.gz [--runs runs] [--ship]
    python benchmarks/language.py ptb FOLDER [--runs runs] [--only lstmn]
    python benchmarks/language.py sst FOLDER [--runs runs] [--vectors glove.bin]

``deu.txt.gz`` is the German-English file of manythings.org/anki (from tatoeba.org, CC-BY 2.0), of
which the English side is read. The folders have ptb.train.txt.gz, ptb.valid.txt.gz and
ptb.test.txt.gz; stsa.binary.train, .dev and .test, and stsa.fine the same. Two models train at a
time, one core each; a run that was interrupted is resumed, a finished one is only measured.
``--ship`` packs the models of Tatoeba into the package, with their cards; ``--commands`` prints the
commands and runs nothing.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from regard.files import write_text
from regard.store.folder import RunFolder, load_classifier, load_language_model
from regard.store.shipped import HOME, pack
from regard.train.data.corpus import encode
from regard.train.data.labelled import read_labelled
from regard.train.data.sentences import read_sentences
from regard.train.run.log import read_log
from regard.train.tasks.classify import decide
from regard.train.tasks.perplexity import TextScore, score_text

SST = ("words", "simple-rnn", "simple-rnn+attention", "lstm", "lstmn", "transformer")
RATES = {"simple-rnn": 2e-3, "simple-rnn+attention": 2e-3, "lstm": 4e-3, "lstmn": 4e-3}
"""Adam's highest step size, found by short runs of each design."""
SHIPPED = ("simple-rnn+attention", "lstmn")
USUAL = ("--size", "small", "--patience", "0", "--seed", "1", "--threads", "1")
COSINE = ("--set", "train.schedule=cosine")


@dataclass(frozen=True)
class Run:
    """One training: its design, its folder and what follows ``regard train TASK``."""

    model: str
    folder: Path
    options: tuple[str, ...]
    task: str = "lm"

    def command(self) -> list[str]:
        """The one command that trains it."""
        return ["regard", "train", self.task, *self.options, "-o", str(self.folder)]

    def train(self) -> None:
        """Train, go on, or do nothing if it is done."""
        words, folder = self.command(), RunFolder(self.folder)
        if folder.config.exists():
            if any(event["event"] == "end" for event in read_log(folder.log)):
                return
            words.append("--resume")
        subprocess.run([sys.executable, "-m", *words], check=True)


def tatoeba(text: str, runs: Path) -> list[Run]:
    """The English side of Tatoeba, each sentence once, 8,000 pieces of words."""
    data = ("--text", text, "--column", "1", "--unique", "--vocabulary", "8000")
    length = ("--epochs", "4", "--batch-tokens", "1000", "--dropout", "0.1")
    return [language(model, runs / f"english-{model}", *data, *length) for model in SHIPPED]


def ptb(folder: str, runs: Path) -> list[Run]:
    """Penn Treebank, sentence by sentence, its own vocabulary of 10,000 words."""
    parts = {"--text": "train", "--valid": "valid", "--test": "test"}
    files = [w for flag, part in parts.items() for w in (flag, f"{folder}/ptb.{part}.txt.gz")]
    data = (*files, "--level", "space", "--set", "data.least=1")
    length = ("--epochs", "5", "--batch-tokens", "500", "--dropout", "0.1")
    return [language(model, runs / f"ptb-{model}", *data, *length) for model in RATES]


def sst(folder: str, runs: Path, vectors: Path | None = None) -> list[Run]:
    """Stanford Sentiment, whole sentences, two labels and five; words start from ``vectors``."""
    made = []
    name, start = "sst", tuple[str, ...]()
    if vectors is not None:
        name, start = "sst-vectors", ("--vectors", str(vectors), "--set", "model.width=50")
    for labels in ("binary", "fine"):
        parts = {"--data": "train", "--valid": "dev", "--test": "test"}
        files = [w for f, part in parts.items() for w in (f, f"{folder}/stsa.{labels}.{part}")]
        for model in SST:
            options = (*files, "--level", "space", "--model", model, "--epochs", "10", *start)
            if vectors is not None and model == "transformer":
                options = (*options, "--set", "model.heads=5")  # 4 do not divide 50
            own = runs / f"{name}-{labels}-{model}"
            made.append(Run(model, own, (*options, *COSINE, *USUAL), "classify"))
    return made


def language(model: str, folder: Path, *options: str) -> Run:
    """A language model's run."""
    own = ("--model", model, "--learning-rate", str(RATES[model]))
    return Run(model, folder, (*options, *own, *COSINE, *USUAL))


@dataclass(frozen=True)
class Result:
    """What is known of one finished run."""

    run: Run
    parameters: int
    minutes: float
    valid: float
    test: TextScore


def measure(run: Run, packed: Path | None = None) -> Result:
    """Perplexity of the test part, of the packed model if there is one."""
    folder = RunFolder(run.folder)
    model, tokens = load_language_model(packed or run.folder)
    lines = [line.text for line in read_sentences(folder.test_text).rows]
    events = read_log(folder.log)
    end = next(e for e in reversed(events) if e["event"] == "end")
    parameters = next(e["parameters"] for e in events if e["event"] == "data")
    score = score_text(model, tokens, lines, continuous="--continuous" in run.options)
    return Result(run, parameters, end["seconds"] / 60, end["figure"], score)


def accuracy(run: Run) -> tuple[int, float, float]:
    """Parameters, minutes and the accuracy on the test part, in per cent."""
    folder = RunFolder(run.folder)
    model, tokens = load_classifier(run.folder)
    rows = read_labelled(folder.test).rows
    found = decide(model, encode([row.text for row in rows], tokens))
    said = [model.config.labels[int(d.logits.argmax())] for d in found]
    right = sum(a == row.label for a, row in zip(said, rows, strict=True))
    parameters = sum(p.numel() for p in model.parameters())
    end = next(e for e in reversed(read_log(folder.log)) if e["event"] == "end")
    return parameters, end["seconds"] / 60, 100 * right / len(rows)


def accuracies(runs: Sequence[Run]) -> str:
    """The figures of classifiers as Markdown, a row a run."""
    lines = ["| run | parameters | minutes | test accuracy |", "|---" * 4 + "|"]
    for run in runs:
        parameters, minutes, right = accuracy(run)
        lines.append(f"| {run.folder.name} | {parameters:,} | {minutes:.1f} | {right:.1f} % |")
    return "\n".join(lines)


def table(results: Sequence[Result]) -> str:
    """The figures as Markdown."""
    lines = [
        "| model | parameters | minutes | valid | test | test, per word |",
        "|---" * 6 + "|",
    ]
    lines += [
        f"| {r.run.model} | {r.parameters:,} | {r.minutes:.0f} | {r.valid:.1f} "
        f"| {r.test.perplexity:.1f} | {r.test.word_perplexity:.1f} |"
        for r in results
    ]
    return "\n".join(lines)


def card(result: Result) -> str:
    """What comes with a packed model: where it is from and how good it is."""
    log = read_log(RunFolder(result.run.folder).log)
    data = next(e for e in log if e["event"] == "data")
    short = [Path(w).name if w.endswith(".gz") else w for w in result.run.command()]
    short[-1] = f"runs/{result.run.folder.name}"
    test = result.test
    return f"""# {result.run.model}, an English language model

{result.parameters:,} parameters; matrices stored in 8 bits with a scale a row. Made by regard.

## Data

The English sentences of tatoeba.org, as in the German-English file of manythings.org/anki
(2018-05-13), licence CC-BY 2.0 (France): the sentences are by the contributors of tatoeba.org. Each
sentence once: {data["train"]:,} to train on, {data["valid"]:,} to validate, {data["test"]:,} to
test (`data.split_seed` 0).

## Training

    {shlex.join(short)}

seed 1, {result.minutes:.0f} minutes on the clock with one thread. `benchmarks/language.py` runs it,
measures and packs.

## Quality

Test sentences, these packed weights, each sentence read on its own: perplexity
{test.perplexity:.1f} per token (pieces of words and the end of each sentence, {test.tokens:,} in
all), {test.word_perplexity:.1f} per word between spaces.

## Limits

Short everyday sentences, like those of the collection; one machine, one seed. It is made for
looking at what such a model attends to while it reads.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=("tatoeba", "ptb", "sst"))
    parser.add_argument("data", help="tatoeba: the file; ptb, sst: the folder")
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--vectors", type=Path, help="sst: word vectors of 50 numbers")
    parser.add_argument("--only", action="append", metavar="MODEL")
    parser.add_argument("--ship", action="store_true", help="tatoeba: pack into the package")
    parser.add_argument("--commands", action="store_true", help="print the commands only")
    given = parser.parse_args()
    if given.what == "sst":
        runs = sst(given.data, given.runs, given.vectors)
    else:
        runs = {"tatoeba": tatoeba, "ptb": ptb}[given.what](given.data, given.runs)
    runs = [run for run in runs if not given.only or run.model in given.only]
    if given.commands:
        print("\n".join(shlex.join(run.command()) for run in runs))
        return
    with ThreadPoolExecutor(2) as two:
        list(two.map(Run.train, runs))
    if given.what == "sst":
        print(accuracies(runs))
        return
    ship = given.ship and given.what == "tatoeba"
    for run in runs if ship else []:
        print(f"{run.model}: {pack(run.folder, HOME / run.model) / 1e6:.1f} MB")
    results = [measure(run, HOME / run.model if ship else None) for run in runs]
    print(table(results))
    for result in results if ship else []:
        write_text(HOME / result.run.model / "card.md", card(result))


if __name__ == "__main__":
    main()
