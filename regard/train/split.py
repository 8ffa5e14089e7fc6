"""Split: which pairs are trained on and which are kept to check with.

A sentence that is known from training is no test. So all pairs that share a sentence on either
side, directly or through others, form one group, and a group goes to one side as a whole: no
sentence of the validation or test part, source or target, occurs anywhere in the training part.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

from regard.errors import DataError
from regard.train.pairs import Pair


@dataclass(frozen=True)
class Split:
    """Three lists of pairs, each in the order of the text."""

    train: list[Pair]
    valid: list[Pair]
    test: list[Pair]


def split(pairs: Sequence[Pair], valid: float, test: float, seed: int = 0) -> Split:
    """Put about the shares ``valid`` and ``test`` of the pairs aside, by groups.

    A group's place depends on its smallest sentence and ``seed`` alone, so adding lines moves
    no other group. A group of more than a tenth of a part would decide that part alone: it is
    trained on.
    """
    parts: dict[str, list[Pair]] = {"train": [], "valid": [], "test": []}
    names = groups(pairs)
    sizes: dict[str, int] = {}
    for name in names:
        sizes[name] = sizes.get(name, 0) + 1
    for pair, name in zip(pairs, names, strict=True):
        place = _place(name, seed)
        part, share = ("valid", valid) if place < valid else ("test", test)
        if place >= valid + test or sizes[name] > max(1.0, 0.1 * share * len(pairs)):
            part = "train"
        parts[part].append(pair)
    for part, share in (("valid", valid), ("test", test)):
        if share and not parts[part]:
            raise DataError(
                f"no group of sentences fell to the {part} part: {len(pairs)} pairs are too few "
                f"for a share of {share:g}; give more pairs, a larger share, or a file for it"
            )
    if not parts["train"]:
        raise DataError(f"no pairs are left to train on of {len(pairs)}")
    return Split(**parts)


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
