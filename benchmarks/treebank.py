"""LSTMN against LSTM on the Penn Treebank, each at its best step size, sentence by sentence.

    python benchmarks/treebank.py FOLDER [--runs runs] [--seeds 1 2 3] [--stop-after choose]

FOLDER has ptb.train.txt.gz, ptb.valid.txt.gz and ptb.test.txt.gz. Three designs of equally many
parameters: the LSTM, the LSTMN, and the LSTMN whose newest word has a learned bias that begins at 6
(``model.recency``). First each is trained for one pass with every step size of RATES, one seed, and
the best by validation is kept; then five passes with that one, several seeds. Runs are made one
after the other, one core; what was interrupted is resumed, what is finished is only measured.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from language import COSINE, Result, Run, measure

from regard.store.folder import RunFolder
from regard.train.run.log import read_log

RATES = (4e-3, 8e-3, 1.6e-2)
DESIGNS = {
    "LSTM": ("lstm", ()),
    "LSTMN": ("lstmn", ()),
    "LSTMN, recency": ("lstmn", ("--set", "model.recency=6")),
}
USUAL = ("--level", "space", "--set", "data.least=1", "--size", "small", "--dropout", "0.1")
LENGTH = ("--batch-tokens", "500", "--patience", "0", "--threads", "1")


@dataclass(frozen=True)
class Treebank:
    """Where the text is, and where runs go."""

    folder: Path
    runs: Path

    def run(self, design: str, rate: float, passes: int, seed: int) -> Run:
        """One training."""
        model, own = DESIGNS[design]
        parts = {"--text": "train", "--valid": "valid", "--test": "test"}
        files = [
            w for f, part in parts.items() for w in (f, str(self.folder / f"ptb.{part}.txt.gz"))
        ]
        name = f"treebank-{design.lower().replace(', ', '-')}-{rate:g}-{passes}-{seed}"
        what = ("--model", model, "--learning-rate", str(rate), *own, "--seed", str(seed))
        length = (*LENGTH, "--epochs", str(passes))
        return Run(model, self.runs / name, (*files, *USUAL, *COSINE, *length, *what))

    def best_rate(self, design: str) -> float:
        """The step size of the lowest perplexity on the validation part after one pass."""
        found = {}
        for rate in RATES:
            run = self.run(design, rate, passes=1, seed=1)
            run.train()
            found[rate] = valid(run)
            print(f"{design}: {rate:g}, one pass: validation {found[rate]:.1f}", flush=True)
        return min(found, key=lambda rate: found[rate])


def valid(run: Run) -> float:
    """The perplexity on the validation part."""
    end = next(e for e in reversed(read_log(RunFolder(run.folder).log)) if e["event"] == "end")
    return float(end["figure"])


def row(design: str, rate: float, results: list[Result]) -> str:
    """A line of the table: mean and spread over seeds."""

    def spread(figures: list[float]) -> str:
        beside = f" ± {stdev(figures):.1f}" if len(figures) > 1 else ""
        return f"{mean(figures):.1f}{beside}"

    minutes = mean(r.minutes for r in results)
    figures = spread([r.valid for r in results]), spread([r.test.perplexity for r in results])
    cells = (design, f"{rate:g}", f"{results[0].parameters:,}", str(len(results)))
    return "| " + " | ".join((*cells, f"{minutes:.0f}", *figures)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--only", choices=DESIGNS, action="append")
    parser.add_argument("--stop-after", choices=("choose",))
    given = parser.parse_args()
    bank = Treebank(given.folder, given.runs)
    rates = {design: bank.best_rate(design) for design in given.only or DESIGNS}
    if given.stop_after == "choose":
        return
    results: dict[str, list[Result]] = {design: [] for design in rates}
    for seed in given.seeds:
        for design, rate in rates.items():
            run = bank.run(design, rate, passes=5, seed=seed)
            run.train()
            results[design].append(measure(run))
            print(f"{design}, seed {seed}: {results[design][-1].test.perplexity:.2f}", flush=True)
    print("| design | step size | parameters | seeds | minutes | valid | test |")
    print("|---" * 7 + "|")
    print("\n".join(row(design, rates[design], found) for design, found in results.items()))


if __name__ == "__main__":
    main()
