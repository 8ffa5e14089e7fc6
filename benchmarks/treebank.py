"""LSTMN against LSTM on the Penn Treebank, sentence by sentence or read on.

    python benchmarks/treebank.py FOLDER [--runs runs] [--rates 4e-3] [--passes 5] [--seeds 1 2 3]
        [--units 300] [--layers 2] [--dropout 0.3] [--read-on 50]

FOLDER has ptb.train.txt.gz, ptb.valid.txt.gz and ptb.test.txt.gz. Three designs of equally many
parameters, or with ``--units`` of equally many hidden units: the LSTM, the LSTMN, and the LSTMN
whose newest word has a learned bias that begins at 6 (``model.recency``), each with every step size
and every seed, of one layer or of several. With ``--read-on`` the state goes on from sentence to
sentence, and attention looks back so many words. Runs are made one after the other, on one core;
what was interrupted is resumed, what is finished is only measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean, stdev

from language import COSINE, Result, Run, measure

DESIGNS = {
    "LSTM": ("lstm", ()),
    "LSTMN": ("lstmn", ()),
    "LSTMN, recency": ("lstmn", ("--set", "model.recency=6")),
}
USUAL = ("--level", "space", "--set", "data.least=1", "--size", "small")
LENGTH = ("--batch-tokens", "500", "--patience", "0", "--threads", "1")


@dataclass(frozen=True)
class Treebank:
    """Where the text is, where runs go, and what all of them have in common."""

    folder: Path
    runs: Path
    units: int = 0
    """Hidden units of every design; 0 = equally many parameters instead."""
    layers: int = 1
    dropout: float = 0.1
    window: int = 0
    """Words that attention looks back when the text is read on; 0 = each sentence on its own."""

    def run(self, design: str, rate: float, passes: int, seed: int) -> Run:
        """One training."""
        model, own = DESIGNS[design]
        parts = {"--text": "train", "--valid": "valid", "--test": "test"}
        files = [
            w for f, part in parts.items() for w in (f, str(self.folder / f"ptb.{part}.txt.gz"))
        ]
        name = f"treebank-{design.lower().replace(', ', '-')}-{rate:g}-{passes}-{seed}{self.kind}"
        what = ("--model", model, "--learning-rate", str(rate), *own, "--seed", str(seed))
        length = (*LENGTH, "--epochs", str(passes), "--dropout", f"{self.dropout:g}")
        options = (*files, *USUAL, *COSINE, *length, *self.shape(model), *what)
        return Run(model, self.runs / name, options)

    def shape(self, model: str) -> Iterator[str]:
        """The options of equal units, of several layers and of reading on."""
        if self.units:
            yield from ("--set", f"model.hidden={self.units}")
        if self.layers > 1:
            yield from ("--set", f"model.layers={self.layers}")
        if self.window:
            yield "--continuous"
            if model == "lstmn":
                yield from ("--set", f"model.window={self.window}")

    @property
    def kind(self) -> str:
        """What a folder's name says of these."""
        parts: dict[str, float] = {"units": self.units, "layers": self.layers, "on": self.window}
        said = {name: n for name, n in parts.items() if n > (name == "layers")}
        if self.dropout != Treebank.dropout:
            said["dropout"] = self.dropout
        return "".join(f"-{name}{n:g}" for name, n in said.items())


def row(design: str, rate: float, passes: int, results: list[Result]) -> str:
    """A line of the table: mean and spread over seeds."""

    def spread(figures: list[float]) -> str:
        beside = f" ± {stdev(figures):.1f}" if len(figures) > 1 else ""
        return f"{mean(figures):.1f}{beside}"

    minutes = mean(r.minutes for r in results)
    figures = spread([r.valid for r in results]), spread([r.test.perplexity for r in results])
    cells = (design, f"{rate:g}", str(passes), f"{results[0].parameters:,}", str(len(results)))
    return "| " + " | ".join((*cells, f"{minutes:.0f}", *figures)) + " |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--runs", type=Path, default=Path("runs"))
    parser.add_argument("--rates", type=float, nargs="+", default=[4e-3])
    parser.add_argument("--passes", type=int, default=5)
    parser.add_argument("--seeds", type=int, nargs="+", default=[1, 2, 3])
    parser.add_argument("--only", choices=DESIGNS, action="append")
    parser.add_argument("--units", type=int, default=0)
    parser.add_argument("--layers", type=int, default=1)
    parser.add_argument("--dropout", type=float, default=0.1)
    parser.add_argument("--read-on", type=int, default=0, metavar="WINDOW")
    given = parser.parse_args()
    shape = given.units, given.layers, given.dropout, given.read_on
    bank, rows = Treebank(given.folder, given.runs, *shape), []
    for rate in given.rates:
        for design in given.only or DESIGNS:
            found = []
            for seed in given.seeds:
                run = bank.run(design, rate, given.passes, seed)
                run.train()
                found.append(measure(run))
                print(f"{run.folder.name}: {found[-1].test.perplexity:.2f}", flush=True)
            rows.append(row(design, rate, given.passes, found))
    print("| design | step size | passes | parameters | seeds | minutes | valid | test |")
    print("|---" * 8 + "|")
    print("\n".join(rows))


if __name__ == "__main__":
    main()
