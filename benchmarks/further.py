"""More pairs of the collection that the shipped translators learn from, for a longer training.

    python benchmarks/further.py FOLDER --split runs/split -o runs/further

FOLDER holds ``data/test``, ``data/dev``, ``data/devtest`` or ``data/release`` of the Tatoeba
Challenge (github.com/Helsinki-NLP/Tatoeba-Challenge; sentences of tatoeba.org, CC-BY 2.0 FR), whole
or in part: what it has of German and English beside any language. ``--split`` is what
``tatoeba.py`` made of the first pairs: its parts stay as they are. Four kinds of pairs are
written, and ``train.tsv`` with them and the old ones:

``direct.tsv``  pairs of German and English;
``third.tsv``   pairs by a third language: two that translate the same sentence of it. One that
                fewer than two sentences join has to share half of its words (F1) with what
                ``transformer`` makes of the German;
``said.tsv``    German sentences of common words that nobody has translated yet, and what
                ``transformer`` and ``bahdanau`` together make of them (Kim and Rush 2016);
``back.tsv``    English sentences of common words, and what ``english-german`` says for them
                (Sennrich, Haddow and Birch 2016); every second one.

Nothing of it has a sentence that the validation or test pairs have, whatever its case and marks.
"""

from __future__ import annotations

import argparse
import gzip
import re
import unicodedata
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from distil import SHARED, shared, speaker, words

from regard.files import write_text
from regard.models.translators.together import Speaker, judge
from regard.models.translators.translation import n_best_texts
from regard.train.data.pairs import Pair, read_pairs

ENGLISH, GERMAN = "eng", "deu"
LONGEST = 14
"""Words of a sentence that is translated here."""
COMMON = 3
"""Times that each of its words stands in the pairs before, at least."""
JOINED = 2
"""Sentences of other languages that make a pair one to be trusted."""
TEACHERS = "transformer", "bahdanau"
BEAM = 3
EVERY = 2
"""Of the English sentences every second one is translated back: all would be most of the pairs."""
AT_ONCE = 20_000


class Collection:
    """All sentences of the folder that are German or English, and what each is joined with."""

    def __init__(self, folder: Path) -> None:
        self.direct: set[Pair] = set()
        self.texts: dict[str, set[str]] = {GERMAN: set(), ENGLISH: set()}
        self.by_third: tuple[defaultdict[tuple[str, str], set[str]], ...]
        self.by_third = defaultdict(set), defaultdict(set)
        for path in sorted(p for end in ("*.txt", "*.txt.gz") for p in folder.rglob(end)):
            for one, other in read_lines(path):
                self.add(one, other)
                self.add(other, one)

    def add(self, one: tuple[str, str], other: tuple[str, str]) -> None:
        """Two sentences with their languages; ``one`` counts if it is ours."""
        if one[0] in self.texts:
            self.texts[one[0]].add(one[1])
        if (one[0], other[0]) == (GERMAN, ENGLISH):
            self.direct.add(Pair(one[1], other[1]))
        elif one[0] in (GERMAN, ENGLISH) and other[0] not in (GERMAN, ENGLISH):
            self.by_third[one[0] == ENGLISH][other].add(one[1])

    def third(self) -> Counter[Pair]:
        """Pairs by a third language, and how many of its sentences join them."""
        german, english = self.by_third
        return Counter(
            Pair(source, target)
            for sentence in sorted(german.keys() & english.keys())
            for source in german[sentence]
            for target in english[sentence]
        )


def read_lines(path: Path) -> Iterator[tuple[tuple[str, str], tuple[str, str]]]:
    """Both sentences of every line, each with its language."""
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rt", encoding="utf-8", errors="replace", newline="\n") as file:
        for line in file:
            cells = line.rstrip("\n").split("\t")
            if len(cells) >= 4:
                yield (cells[0], cells[2].strip()), (cells[1], cells[3].strip())


def bare(text: str) -> str:
    """A sentence without case and marks."""
    return " ".join(re.findall(r"\w+", unicodedata.normalize("NFC", text).lower()))


class Fence:
    """What may not be among the new pairs: sentences of the tests, and pairs that are there."""

    def __init__(self, held: Iterable[Pair], old: Iterable[Pair]) -> None:
        self.shut = {bare(text) for pair in held for text in pair.texts()}
        self.there = {(bare(pair.source), bare(pair.target)) for pair in old}

    def new(self, pairs: Iterable[Pair]) -> list[Pair]:
        """Those that may come in, and are in from now on; in an order that is always the same."""
        chosen = []
        for pair in sorted(pairs):
            both = bare(pair.source), bare(pair.target)
            if all(both) and both not in self.there and self.shut.isdisjoint(both):
                self.there.add(both)
                chosen.append(pair)
        return chosen


def trusted(pairs: Sequence[Pair], joined: Counter[Pair]) -> list[Pair]:
    """The pairs by a third language that are joined twice, or that the Transformer agrees with."""
    asked = sorted({pair.source for pair in pairs if joined[pair] < JOINED})
    said = spoken(speaker("transformer"), asked, 1)
    own = {text: words(one) for text, one in zip(asked, said, strict=True)}
    return [
        pair
        for pair in pairs
        if joined[pair] >= JOINED or shared(own[pair.source], words(pair.target)) >= SHARED
    ]


def common(texts: Iterable[str], known: Sequence[str], fence: Fence) -> list[str]:
    """Short texts of words that ``known`` often has, none of them there or of the tests."""
    often = Counter(word for text in known for word in words(text))
    there = {bare(text) for text in known} | fence.shut
    return [
        text
        for text in sorted(texts)
        if 0 < (own := words(text)).total() <= LONGEST
        and all(often[word] >= COMMON for word in own)
        and bare(text) not in there
    ]


def forward(asked: Sequence[str]) -> list[Pair]:
    """What the translators say of German sentences, where they differ what both hold for better."""
    teachers = [speaker(name) for name in TEACHERS]
    said = [spoken(own, asked, BEAM) for own in teachers]
    open_ = [i for i, (one, other) in enumerate(zip(*said, strict=True)) if one != other]
    offered = [(asked[i], own[i]) for i in open_ for own in said]
    scores = [judge(*own, offered) for own in teachers]
    total = [sum(each) for each in zip(*scores, strict=True)]
    best = list(said[0])
    for place, i in enumerate(open_):
        if total[2 * place + 1] > total[2 * place]:
            best[i] = said[1][i]
    return [Pair(source, target) for source, target in zip(asked, best, strict=True)]


def backward(asked: Sequence[str]) -> list[Pair]:
    """What the translator from English makes of English sentences."""
    said = spoken(speaker("english-german"), asked, 1)
    return [Pair(source, target) for source, target in zip(said, asked, strict=True)]


def spoken(model: Speaker, asked: Sequence[str], beam: int) -> list[str]:
    """What a translator says of each sentence."""
    found: list[str] = []
    for start in range(0, len(asked), AT_ONCE):
        part = asked[start : start + AT_ONCE]
        said = n_best_texts(*model, part, beam=beam, batch=128, words=False)
        found += [one.text for [one] in said]
        print(f"{len(found):,} of {len(asked):,} sentences translated", flush=True)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", type=Path, required=True)
    parser.add_argument("-o", dest="out", required=True, type=Path, metavar="FOLDER")
    given = parser.parse_args()
    old = read_pairs(given.split / "train-and-phrases.tsv").rows
    held = [p for part in ("valid", "test") for p in read_pairs(given.split / f"{part}.tsv").rows]
    fence, collection = Fence(held, old), Collection(given.folder)
    direct, joined = fence.new(collection.direct), collection.third()
    third = fence.new(joined)
    there = [*old, *direct, *third]
    german = common(collection.texts[GERMAN], [pair.source for pair in there], fence)
    english = common(collection.texts[ENGLISH], [pair.target for pair in there], fence)
    new = {
        "direct": direct,
        "third": trusted(third, joined),
        "said": fence.new(forward(german)),
        "back": fence.new(backward(english[::EVERY])),
    }
    given.out.mkdir(parents=True, exist_ok=True)
    parts = {**new, "train": [*old, *(pair for kind in new.values() for pair in kind)]}
    for name, pairs in parts.items():
        write_text(given.out / f"{name}.tsv", "".join(f"{pair.line()}\n" for pair in pairs))
        print(f"{name}: {len(pairs):,} pairs")


if __name__ == "__main__":
    main()
