"""Summaries: Debian's descriptions of packages, each with its synopsis of a few words.

    apt-get -o Dir::State::lists=lists -o Acquire::Languages=en update
    /usr/lib/apt/apt-helper cat-file lists/*_bookworm_main_i18n_Translation-en* > descriptions
    /usr/lib/apt/apt-helper cat-file lists/*_bookworm_main_binary-amd64_Packages* > packages
    python benchmarks/summaries.py --descriptions descriptions --packages packages --to summaries \\
        [--runs runs/summaries --models bahdanau bahdanau+pointer -- --size tiny --steps 4000]

Writes train.tsv, valid.tsv and test.tsv: the description of a package, a tab, its synopsis. All
packages of one source stay on one side, and nothing that is trained on has a description or a
synopsis of the other side. With ``--runs`` it trains each of ``--models`` on them (what stands
behind ``--`` goes to ``regard train translate`` as it is), prints ROUGE beside the first words of
each description, then how the models differ text by text and what they do with rare words. The
descriptions are their packages' own, each under its licence: they are not part of regard.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from regard.models.translators.translation import translate_texts
from regard.store.folder import RunFolder, load_translator
from regard.train.tasks.evaluate import evaluate
from regard.train.tasks.rouge import first_words, rouge, rouge_words

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
    design, _, pointer = model.partition("+")
    command = [sys.executable, "-m", "regard", "train", "translate", *files, "--model", design]
    command += ["--pointer"] * bool(pointer)
    command += ["--set", "data.max_length=150", "-o", str(folder), *options, *resume]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def compare(data: Path, folders: dict[str, Path]) -> None:
    """ROUGE-1 text by text, rare words that are found, and words that are none."""
    pairs = [line.split("\t") for line in (data / "test.tsv").read_text().splitlines()]
    texts, references = ([pair[side] for pair in pairs] for side in (0, 1))
    usual = round(sum(len(rouge_words(each)) for each in references) / len(references))
    said = {"first words": [first_words(text, usual) for text in texts]}
    for name, folder in folders.items():
        found = translate_texts(*load_translator(folder), texts)
        said[name] = [each.text for each in found]
    known: Counter[str] = Counter()
    for line in (data / "train.tsv").read_text().splitlines():
        known.update({*rouge_words(line)})
    scores = {name: _each(own, references) for name, own in said.items()}
    for name, own in said.items():
        rare, none = _rare(own, texts, references, known), _none(own, texts, known)
        again = np.mean([len(words) > len({*words}) for words in map(rouge_words, own)])
        print(
            f"{name}: {rare:.1%} of the rare words found; {none:.1%} of its words are none; a word "
            f"comes twice in {again:.1%} of its summaries",
            flush=True,
        )
        for other in [*said][: [*said].index(name)]:
            ahead = scores[name] - scores[other]
            error = ahead.std(ddof=1) / len(ahead) ** 0.5
            print(
                f"  ROUGE-1 {ahead.mean():+.2f} ± {error:.2f} against {other}: better in "
                f"{(ahead > 0).sum()} texts, worse in {(ahead < 0).sum()}",
                flush=True,
            )


def _each(said: list[str], references: list[str]) -> np.ndarray:
    return np.array([rouge([s], [r])["ROUGE-1"] for s, r in zip(said, references, strict=True)])


def _rare(said: list[str], texts: list[str], right: list[str], known: Counter[str]) -> float:
    """Of the words of references that stand in the text and in two training texts at most, the
    share that is said."""
    found = [
        word in own
        for s, text, reference in zip(said, texts, right, strict=True)
        for own in [{*rouge_words(s)}]
        for word in {*rouge_words(reference)} & {*rouge_words(text)}
        if known[word] <= 2
    ]
    return sum(found) / len(found)


def _none(said: list[str], texts: list[str], known: Counter[str]) -> float:
    """The share of words that stand neither in their text nor in any training text."""
    words = [
        word not in here and not known[word]
        for s, text in zip(said, texts, strict=True)
        for here in [{*rouge_words(text)}]
        for word in rouge_words(s)
    ]
    return sum(words) / len(words)


PARTS = {"": "train", "valid-": "valid", "test-": "test"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--descriptions", type=Path, required=True)
    parser.add_argument("--packages", type=Path, required=True)
    parser.add_argument("--to", type=Path, required=True)
    parser.add_argument("--runs", type=Path)
    parser.add_argument("--models", nargs="+", default=["bahdanau", "bahdanau+pointer"])
    parser.add_argument("options", nargs="*", help="of regard train translate, behind --")
    given = parser.parse_args()
    write(given.descriptions, given.packages, given.to)
    for number, model in enumerate(given.models if given.runs else []):
        folder = given.runs / model
        trained(given.to, folder, model, given.options)
        rows = evaluate(RunFolder(folder).path, model, rouge=True)["summaries"]
        rows[1]["name"] = model
        for row in rows[0 if number == 0 else 1 : -1]:
            figures = " | ".join(f"{value:.2f}" for value in row["rouge"].values())
            pointer = f"{row['pointer']:.1%}" if "pointer" in row else "–"
            last = f"{row['words']:.1f} | {row['copied']:.1%} | {pointer}"
            print(f"| {row['name']} | {figures} | {last} |", flush=True)
    if given.runs:
        compare(given.to, {model: given.runs / model for model in given.models})


if __name__ == "__main__":
    main()
