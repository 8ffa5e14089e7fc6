"""Sentence pairs for a student: those of a file, and what translators make of its sentences.

    python benchmarks/distil.py --pairs deu.txt.gz --teacher runs/wider --teacher bahdanau \
        -o runs/distilled
    python benchmarks/distil.py --pairs deu.txt.gz --teacher transformer --teacher bahdanau \
        --best 4 --nearest --back english-german -o runs/diverse

Every German sentence of the training pairs is translated by each teacher (beam 5, its two best),
all teachers judge all that was proposed, and the best is a new pair beside the old ones; with
``--nearest`` it is the one that shares most words with what people wrote. A pair that is there
already is not added, nor one whose translation is in the validation or test pairs, nor one that
shares less than half of its words with what people wrote: there the teachers failed. With
``--back`` every English sentence is translated into German, and the three best are new sources for
it, unless they are in the validation or test pairs. It writes ``train.tsv``, ``valid.tsv`` and
``test.tsv`` into the folder, and ``new.tsv``, what was added; docs/results.md has a command
that trains on them. What a teacher has said or judged is kept in the folder: interrupted, it goes
on with the next.
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

BACK = 3
"""German sentences for each English one."""
SHARED = 0.5
"""Words that a new translation has in common with an old one of its sentence (F1), at least."""
AT_ONCE = 6400
"""Sentences, or proposals, between two lines of progress."""


def kept(path: Path, make: Callable[[], Any]) -> Any:
    """What ``make`` makes, or what it made before."""
    if not path.exists():
        write_text(path, json.dumps(make(), ensure_ascii=False))
    return json.loads(path.read_text(encoding="utf-8"))


def proposals(teacher: Speaker, sources: Sequence[str], name: str, best: int) -> list[list[str]]:
    """The teacher's ``best`` translations of every source."""
    said: list[list[str]] = []
    for start in range(0, len(sources), AT_ONCE):
        part = sources[start : start + AT_ONCE]
        found = n_best_texts(*teacher, part, best=best)
        said += [[one.text for one in each] for each in found]
        print(f"{name}: {len(said):,} of {len(sources):,} sentences", flush=True)
    return said


def judged(teacher: Speaker, asked: Sequence[tuple[str, str]], name: str) -> list[float]:
    """The teacher's mean log-probability a token of every proposal."""
    scores: list[float] = []
    for start in range(0, len(asked), AT_ONCE):
        scores += judge(*teacher, asked[start : start + AT_ONCE])
        print(f"{name}: {len(scores):,} of {len(asked):,} proposals judged", flush=True)
    return scores


def judged_best(
    sources: Sequence[str], offered: Sequence[Sequence[str]], scores: Sequence[Sequence[float]]
) -> list[Pair]:
    """Of each source the proposal with the best sum of the teachers' scores."""
    total = iter([sum(each) for each in zip(*scores, strict=True)])
    chosen = []
    for source, texts in zip(sources, offered, strict=True):
        score = {text: next(total) for text in texts}
        chosen.append(Pair(source, max(texts, key=score.__getitem__)))
    return chosen


def nearest(
    sources: Sequence[str], offered: Sequence[Sequence[str]], old: Sequence[Pair]
) -> list[Pair]:
    """Of each source the proposal that shares most words with what people wrote."""
    written = references(old)
    return [
        Pair(source, max(texts, key=lambda text: likeness(text, written[source])))
        for source, texts in zip(sources, offered, strict=True)
    ]


def backward(said: dict[str, list[str]], old: Sequence[Pair], held: Sequence[Pair]) -> list[Pair]:
    """New sources for the old targets, none of them a sentence that somebody is tested with."""
    there = {pair.texts() for pair in old}
    shut = {pair.source for pair in held}
    pairs = (Pair(text, target) for target, texts in said.items() for text in texts)
    return [pair for pair in pairs if pair.texts() not in there and pair.source not in shut]


def added(found: Sequence[Pair], old: Sequence[Pair], held: Sequence[Pair]) -> list[Pair]:
    """The new pairs that are worth to learn from and that nobody is tested with."""
    there = {pair.texts() for pair in old}
    shut = {pair.target for pair in held}
    written = references(old)
    return [
        pair
        for pair in found
        if pair.texts() not in there
        and pair.target not in shut
        and likeness(pair.target, written[pair.source]) >= SHARED
    ]


def references(pairs: Sequence[Pair]) -> dict[str, list[Counter[str]]]:
    """The words of every translation of a source."""
    written: dict[str, list[Counter[str]]] = defaultdict(list)
    for pair in pairs:
        written[pair.source].append(words(pair.target))
    return written


def likeness(text: str, written: Sequence[Counter[str]]) -> float:
    """With the translation that is likest to it."""
    return max(shared(words(text), each) for each in written)


def words(text: str) -> Counter[str]:
    return Counter(re.findall(r"\w+", text.lower().replace("'", "")))


def shared(one: Counter[str], other: Counter[str]) -> float:
    """F1 of their words."""
    return 2 * (one & other).total() / max(1, one.total() + other.total())


def offer(
    teachers: dict[str, Speaker], sources: Sequence[str], folder: Path, best: int, what: str
) -> list[list[str]]:
    """What the teachers propose for each source, every text once."""
    said = [
        kept(
            folder / f"{what}-{best}-{Path(name).name}.json",
            partial(proposals, own, sources, name, best),
        )
        for name, own in teachers.items()
    ]
    return [
        list(dict.fromkeys(text for own in each for text in own))
        for each in zip(*said, strict=True)
    ]


def judged_by_all(
    teachers: dict[str, Speaker],
    sources: Sequence[str],
    offered: Sequence[Sequence[str]],
    folder: Path,
    best: int,
) -> list[list[float]]:
    """The scores of each teacher for all that is offered."""
    together = "+".join(Path(name).name for name in teachers)
    asked = [(s, text) for s, texts in zip(sources, offered, strict=True) for text in texts]
    return [
        kept(
            # All propose, so what one is asked depends on who the others are.
            folder / f"judged-{best}-{Path(name).name}-of-{together}.json",
            partial(judged, own, asked, name),
        )
        for name, own in teachers.items()
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", required=True, metavar="FILE")
    parser.add_argument("--teacher", required=True, action="append", metavar="NAME|FOLDER")
    parser.add_argument("--best", type=int, default=2, metavar="N")
    parser.add_argument("--nearest", action="store_true")
    parser.add_argument("--back", metavar="NAME|FOLDER")
    parser.add_argument("-o", dest="folder", required=True, type=Path, metavar="FOLDER")
    given = parser.parse_args()
    folder: Path = given.folder
    if len({Path(name).name for name in given.teacher}) < len(given.teacher):
        parser.error("every teacher needs a name of its own, the last of its folder's path")
    folder.mkdir(parents=True, exist_ok=True)
    data = Translate().read(PairsConfig(pairs=given.pairs, source_column=2, target_column=1))
    held = [*data.valid, *data.test]
    sources = list(dict.fromkeys(pair.source for pair in data.train))
    teachers = {name: speaker(name) for name in given.teacher}
    offered = offer(teachers, sources, folder, given.best, "said")
    if given.nearest:
        found = nearest(sources, offered, data.train)
    else:
        scores = judged_by_all(teachers, sources, offered, folder, given.best)
        found = judged_best(sources, offered, scores)
    new = added(found, data.train, held)
    print(f"{len(new):,} new translations")
    if given.back:
        targets = list(dict.fromkeys(pair.target for pair in data.train))
        said = offer({given.back: speaker(given.back)}, targets, folder, BACK, "back")
        there = [*data.train, *new]
        new += backward(dict(zip(targets, said, strict=True)), there, held)
    parts = {"new": new, "train": [*data.train, *new], "valid": data.valid, "test": data.test}
    for name, pairs in parts.items():
        write_text(folder / f"{name}.tsv", "".join(pair.line() + "\n" for pair in pairs))
    print(f"{len(data.train):,} pairs and {len(new):,} new ones in {folder}")


def speaker(name: str) -> Speaker:
    return load_translator(find_folder(name, "translate"))


if __name__ == "__main__":
    main()
