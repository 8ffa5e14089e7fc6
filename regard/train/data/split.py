"""Split: which examples are trained on and which are kept to check with.

A sentence that is known from training is no test. So all pairs that share a sentence on either
side, directly or through others, form one group, and a group goes to one side as a whole: no
sentence of the validation or test part, source or target, occurs anywhere in the training part.
Of plain text, a group is all lines with the same sentence.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from regard.errors import DataError
from regard.train.data.pairs import Pair

Part = Literal["train", "valid", "test"]
_VALID: Part = "valid"
_TEST: Part = "test"


@dataclass(frozen=True)
class Split:
    """Three lists of pairs, each in the order of the text."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]


def split(pairs: Sequence[Pair], valid: float, test: float, seed: int = 0) -> Split:
    """Put about the shares ``valid`` and ``test`` of the pairs aside, by groups."""
    parts: dict[Part, list[Pair]] = {"train": [], "valid": [], "test": []}
    names = groups(pairs)
    for pair, part in zip(pairs, places(names, valid, test, seed, "pairs"), strict=True):
        parts[part].append(pair)
    return Split(**parts)


def places(
    names: Sequence[str], valid: float, test: float, seed: int = 0, what: str = "lines"
) -> list[Part]:
    """The part of each example, given the name of its group; ``what`` examples are, for errors.

    A group's place depends on its name and ``seed`` alone, so adding lines moves no other group.
    A group of more than a tenth of a part would decide that part alone: it is trained on.
    """
    sizes = Counter(names)

    def place(name: str) -> Part:
        at = _place(name, seed)
        part, share = (_VALID, valid) if at < valid else (_TEST, test)
        if at >= valid + test or sizes[name] > max(1.0, 0.1 * share * len(names)):
            return "train"
        return part

    found = [place(name) for name in names]
    for part, share in ((_VALID, valid), (_TEST, test)):
        if share and part not in found:
            raise DataError(
                f"no group of sentences fell to the {part} part: {len(names)} {what} are too few "
                f"for a share of {share:g}; give more {what}, a larger share, or a file for it"
            )
    if "train" not in found:
        raise DataError(f"no {what} are left to train on of {len(names)}")
    return found


def groups(pairs: Sequence[Pair]) -> list[str]:
    """For each pair the name of its group: the smallest normalised sentence in it.

    Union-find over sentences; source and target sides are different languages and are kept
    apart by a letter in front.
    """
    parent: dict[str, str] = {}

    def find(item: str) -> str:
        root = parent.setdefault(item, item)
        while parent[root] != root:
            parent[root] = parent[parent[root]]
            root = parent[root]
        return root

    keys = [f"s {normalised(pair.source)}" for pair in pairs]
    for key, pair in zip(keys, pairs, strict=True):
        one, other = find(key), find(f"t {normalised(pair.target)}")
        parent[max(one, other)] = min(one, other)
    return [find(key) for key in keys]


def normalised(sentence: str) -> str:
    """The sentence without what does not make it another: case, white space, character forms."""
    return " ".join(unicodedata.normalize("NFKC", sentence).casefold().split())


def shared(pairs: Sequence[Pair], held_out: Sequence[Pair]) -> int:
    """How many of ``pairs`` have a source or target sentence that is also in ``held_out``."""
    sources = {normalised(pair.source) for pair in held_out}
    targets = {normalised(pair.target) for pair in held_out}
    return sum(normalised(p.source) in sources or normalised(p.target) in targets for p in pairs)


def _place(name: str, seed: int) -> float:
    """A number in [0, 1) that only the name and the seed decide, the same on every machine."""
    digest = hashlib.sha256(f"{seed}\t{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
