"""Split: which examples are trained on and which are kept to check with.

A sentence that is known from training is no test. So all examples that share a sentence on either
side, directly or through others, form one group, and a group goes to one part as a whole: no
sentence of the validation or test part, source or target, occurs anywhere in the training part.
Of plain text, a group is all lines with the same sentence.
"""

from __future__ import annotations

import hashlib
import unicodedata
from collections import Counter
from collections.abc import Sequence
from typing import Literal

from regard.errors import DataError
from regard.text import number_of

Part = Literal["train", "valid", "test"]
_VALID: Part = "valid"
_TEST: Part = "test"


def places(
    names: Sequence[str], valid: float, test: float, seed: int = 0, what: str = "lines"
) -> list[Part]:
    """The part of each example, given the name of its group; ``what`` examples are, for errors.

    A group's place depends on its name and ``seed`` alone, so adding lines moves no other group,
    with one exception: a group of more than a tenth of a part would decide that part alone and is
    trained on, as long as the whole is not larger.
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
            are = "is" if len(names) == 1 else "are"
            few = f"{number_of(len(names), what.removesuffix('s'))} {are}"
            raise DataError(
                f"no {what} fell to the {part} part: {few} too few for a share of {share:g}, equal "
                f"ones being kept together; give more {what}, a larger share, or a file for it"
            )
    if "train" not in found:
        raise DataError(f"no {what} are left to train on of {len(names)}")
    return found


def groups(keys: Sequence[Sequence[str]]) -> list[str]:
    """For each example, given its keys, the name of its group: the smallest key in it.

    Examples that share a key are in one group, and so are those that share a group with both.
    """
    parent: dict[str, str] = {}

    def find(item: str) -> str:
        root = parent.setdefault(item, item)
        while parent[root] != root:
            parent[root] = parent[parent[root]]
            root = parent[root]
        return root

    for first, *others in keys:
        for other in others:
            one, two = find(first), find(other)
            parent[max(one, two)] = min(one, two)
    return [find(each[0]) for each in keys]


def keys_of(texts: Sequence[str]) -> tuple[str, ...]:
    """What makes an example known: its sentence, or those of its sides.

    The sides of a pair are different languages, and are kept apart by a letter in front.
    """
    if len(texts) == 1:
        return (normalised(texts[0]),)
    return tuple(f"{side} {normalised(text)}" for side, text in zip("st", texts, strict=True))


def normalised(sentence: str) -> str:
    """The sentence without what does not make it another: case, white space, character forms."""
    return " ".join(unicodedata.normalize("NFKC", sentence).casefold().split())


def _place(name: str, seed: int) -> float:
    """A number in [0, 1) that only the name and the seed decide, the same on every machine."""
    digest = hashlib.sha256(f"{seed}\t{name}".encode()).digest()
    return int.from_bytes(digest[:8], "big") / 2**64
