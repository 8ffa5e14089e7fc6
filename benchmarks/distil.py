"""Sentence pairs for a student: those of a file, and what several translators say together.

    python benchmarks/distil.py --pairs deu.txt.gz --teacher runs/wider --teacher bahdanau \
        -o runs/distilled

Every German sentence of the training pairs is translated by each teacher (beam 5, its two best),
all teachers judge all that was proposed, and the best is a new pair beside the old ones. A pair
that is there already is not added, nor one whose translation is in the validation or test pairs,
nor one that shares less than half of its words with what people wrote: there the teachers failed.
It writes ``train.tsv``, ``valid.tsv`` and ``test.tsv`` into the folder, and ``new.tsv``, what was
added; docs/results.md has the command that trains on them. What a teacher has said or judged is
kept in the folder: interrupted, it goes on with the next.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from regard.files import write_text
from regard.models.translators.together import Speaker, judge
from regard.models.translators.translation import n_best_texts
from regard.store.folder import load_translator
from regard.store.shipped import find_folder
from regard.train.data.config import PairsConfig
from regard.train.data.pairs import Pair
from regard.train.tasks.translate import Translate

PROPOSALS = 2
"""Of each teacher, of each sentence."""
SHARED = 0.5
"""Words that a new translation has in common with an old one of its sentence (F1), at least."""
AT_ONCE = 6400
"""Sentences, or proposals, between two lines of progress."""


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """What ``make`` makes, or what it made before."""
    if not path.exists():
        write_text(path, json.dumps(make(), ensure_ascii=False))
    return json.loads(path.read_text(encoding="utf-8"))


def proposals(teacher: Speaker, sources: Sequence[str], name: str) -> list[list[str]]:
    """The teacher's best translations of every source."""
    said: list[list[str]] = []
    for start in range(0, len(sources), AT_ONCE):
        part = sources[start : start + AT_ONCE]
        found = n_best_texts(*teacher, part, best=PROPOSALS)
        said += [[one.text for one in best] for best in found]
        print(f"{name}: {len(said):,} of {len(sources):,} sentences", flush=True)
    return said


def judged(teacher: Speaker, asked: Sequence[tuple[str, str]], name: str) -> list[float]:
    """The teacher's mean log-probability a token of every proposal."""
    scores: list[float] = []
    for start in range(0, len(asked), AT_ONCE):
        scores += judge(*teacher, asked[start : start + AT_ONCE])
        print(f"{name}: {len(scores):,} of {len(asked):,} proposals judged", flush=True)
    return scores


def best(
    sources: Sequence[str], offered: Sequence[Sequence[str]], scores: Sequence[Sequence[float]]
) -> list[Pair]:
    """Of each source the proposal with the best sum of the teachers' scores."""
    total = iter([sum(each) for each in zip(*scores, strict=True)])
    chosen = []
    for source, texts in zip(sources, offered, strict=True):
        score = {text: next(total) for text in texts}
        chosen.append(Pair(source, max(texts, key=score.__getitem__)))
    return chosen


def added(found: Sequence[Pair], old: Sequence[Pair], held: Sequence[Pair]) -> list[Pair]:
    """The new pairs that are worth to learn from and that nobody is tested with."""
    there = {pair.texts() for pair in old}
    shut = {pair.target for pair in held}
    written: dict[str, list[Counter[str]]] = defaultdict(list)
    for pair in old:
        written[pair.source].append(words(pair.target))
    return [
        pair
        for pair in found
        if pair.texts() not in there
        and pair.target not in shut
        and max(shared(words(pair.target), each) for each in written[pair.source]) >= SHARED
    ]


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower().replace("'", "")))


def shared(one: Counter[str], other: Counter[str]) -> float:
    """F1 of their words."""
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", required=True, metavar="FILE")
    parser.add_argument("--teacher", required=True, action="append", metavar="NAME|FOLDER")
    parser.add_argument("-o", dest="folder", required=True, type=Path, metavar="FOLDER")
    given = parser.parse_args()
    folder: Path = given.folder
    files = {name: Path(name).name for name in given.teacher}
    if len(set(files.values())) < len(given.teacher):
        parser.error("every teacher needs a name of its own, the last of its folder's path")
    together = "+".join(files.values())
    folder.mkdir(parents=True, exist_ok=True)
    data = Translate().read(PairsConfig(pairs=given.pairs, source_column=2, target_column=1))
    sources = list(dict.fromkeys(pair.source for pair in data.train))
    teachers = {name: load_translator(find_folder(name, "translate")) for name in given.teacher}
    said = [
        kept(folder / f"said-{files[name]}.json", partial(proposals, teachers[name], sources, name))
        for name in teachers
    ]
    offered = [
        list(dict.fromkeys(text for own in each for text in own))
        for each in zip(*said, strict=True)
    ]
    asked = [(s, text) for s, texts in zip(sources, offered, strict=True) for text in texts]
    scores = [
        kept(
            folder / f"judged-{files[name]}-of-{together}.json",  # they propose, so they are asked
            partial(judged, teachers[name], asked, name),
        )
        for name in teachers
    ]
    new = added(best(sources, offered, scores), data.train, [*data.valid, *data.test])
    for name, pairs in (
        ("new", new),
        ("train", [*data.train, *new]),
        ("valid", data.valid),
        ("test", data.test),
    ):
        write_text(folder / f"{name}.tsv", "".join(pair.line() + "\n" for pair in pairs))
    print(f"{len(data.train):,} pairs and {len(new):,} new ones in {folder}")


if __name__ == "__main__":
    main()
