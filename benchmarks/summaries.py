"""Summaries: Debian's descriptions of packages, each with its synopsis of a few words.

    apt-get -o Dir::State::lists=lists -o Acquire::Languages=en update
    /usr/lib/apt/apt-helper cat-file lists/*_bookworm_main_i18n_Translation-en* > descriptions
    /usr/lib/apt/apt-helper cat-file lists/*_bookworm_main_binary-amd64_Packages* > packages
    python benchmarks/summaries.py --descriptions descriptions --packages packages --to summaries \\
        [--runs runs/summaries --models bahdanau transformer -- --minutes 60]

Writes train.tsv, valid.tsv and test.tsv: the description of a package, a tab, its synopsis. All
packages of one source stay on one side, and nothing that is trained on has a description or a
synopsis of the other side. With ``--runs`` it trains each of ``--models`` on them (what stands
behind ``--`` goes to ``regard train translate`` as it is) and prints ROUGE beside the first words
of each description. The descriptions are their packages' own, each under its licence: they are not
part of regard.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from regard.store.folder import RunFolder
from regard.train.tasks.evaluate import evaluate

LEAST, MOST = 8, 70
"""Words of a description that is taken."""
SHARE = 0.03
"""Of the sources, to validate and to test on each."""


def stanzas(path: Path) -> Iterator[dict[str, str]]:
    """The fields of each package; the lines of a field as they are."""
    fields: dict[str, str] = {}
    name = ""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            line = line.rstrip("\n")
            if not line:
                yield fields
                fields = {}
            elif line[0].isspace():
                fields[name] += "\n" + line
            else:
                name, _, value = line.partition(":")
                fields[name] = value.strip()
    if fields:
        yield fields


def described(path: Path) -> Iterator[tuple[str, str, str]]:
    """Package, description and synopsis, each once."""
    seen: set[tuple[str, str]] = set()
    for fields in stanzas(path):
        synopsis, _, text = fields.get("Description-en", "").partition("\n")
        words = " ".join(line for line in text.split("\n") if line.strip() != ".").split()
        pair = " ".join(words), " ".join(synopsis.split())
        if LEAST <= len(words) <= MOST and pair[1] and pair not in seen:
            seen.add(pair)
            yield fields["Package"], *pair


def part_of(source: str) -> str:
    """Where a source's packages go, by its name alone."""
    at = int.from_bytes(hashlib.sha256(source.encode()).digest()[:8], "big") / 2**64
    return "valid" if at < SHARE else "test" if at < 2 * SHARE else "train"


def write(descriptions: Path, packages: Path, to: Path) -> None:
    """The three files."""
    sources = {
        fields["Package"]: fields.get("Source", fields["Package"]).split()[0]
        for fields in stanzas(packages)
    }
    parts: dict[str, list[tuple[str, str]]] = {"train": [], "valid": [], "test": []}
    for package, text, synopsis in described(descriptions):
        parts[part_of(sources.get(package, package))].append((text, synopsis))
    held = {side for part in ("valid", "test") for pair in parts[part] for side in pair}
    parts["train"] = [pair for pair in parts["train"] if held.isdisjoint(pair)]
    to.mkdir(parents=True, exist_ok=True)
    for part, pairs in parts.items():
        (to / f"{part}.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs), encoding="utf-8")
        print(f"{to / part}.tsv: {len(pairs):,} descriptions", flush=True)


def trained(data: Path, folder: Path, model: str, options: list[str]) -> None:
    """One run, trained or gone on with if it is not finished."""
    if (folder / "report.html").exists():
        return
    resume = ["--resume"] if (folder / "config.json").exists() else []
    files = [f"--{part}pairs={data / name}.tsv" for part, name in PARTS.items()]
    command = [sys.executable, "-m", "regard", "train", "translate", *files, "--model", model]
    command += ["--set", "data.max_length=150", "-o", str(folder), *options, *resume]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


PARTS = {"": "train", "valid-": "valid", "test-": "test"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--descriptions", type=Path, required=True)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--models", nargs="+", default=["bahdanau", "transformer"])
    parser.add_argument("options", nargs="*", help="of regard train translate, behind --")
    given = parser.parse_args()
    write(given.descriptions, given.packages, given.to)
    for number, model in enumerate(given.models if given.runs else []):
        folder = given.runs / model
        trained(given.to, folder, model, given.options)
        rows = evaluate(RunFolder(folder).path, model, rouge=True)["summaries"]
        for row in rows[0 if number == 0 else 1 : -1]:
            figures = " | ".join(f"{value:.2f}" for value in row["rouge"].values())
            print(
                f"| {row['name']} | {figures} | {row['words']:.1f} | {row['copied']:.1%} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
