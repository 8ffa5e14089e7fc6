"""Names: teach a translator to copy the names that it never saw.

A collection such as Tatoeba says *Tom* in every fourth sentence and hardly any other name, so a
model learns the word *Tom* where it should learn to copy. In a share of the training pairs that
have a name, the name gives way on both sides to one that is made up:

    Tom wohnt in Boston.       Tom lives in Boston.
    Krelan wohnt in Boston.    Krelan lives in Boston.

A name is a word that stands once on each side in the same letters, the first one large, and that is
never written small in the text: *Boston*, but neither *In* nor *Winter*.
"""

from __future__ import annotations

import random
import re
from collections.abc import Collection, Sequence

from regard.train.data.pairs import Pair

_WORD = re.compile(r"[^\W\d_]+")
_FIRST = (*"bdfghjklmnprstvwz", "br", "fr", "gr", "kl", "kr", "sch", "st", "tr")
_VOWELS, _RARE_VOWELS = (*"aeiou",), ("ei", "ie", "au", "ö", "ü")
_LAST = (*"nlrsmt", "nn", "ck", "rt", "nd")


def renamed(pairs: Sequence[Pair], share: float, seed: int = 0) -> list[Pair]:
    """The pairs, with a made-up name in ``share`` of those that have a name on both sides."""
    small = {word for pair in pairs for side in pair[:2] for word in _WORD.findall(side)}
    small = {word for word in small if word.islower()}
    draw = random.Random(seed)
    return [_renamed(pair, small, draw) if draw.random() < share else pair for pair in pairs]


def made_up(draw: random.Random, words: Collection[str] = ()) -> str:
    """A name of one to three syllables, none of ``words``: Klora, Benid, Sumifert."""

    def perhaps(kinds: Sequence[str], share: float) -> str:
        return draw.choice(kinds) if draw.random() < share else ""

    count = draw.choice((1, 2, 2, 2, 3))
    syllables = [
        perhaps(_FIRST, 0.8 if number == 0 else 1.0)
        + draw.choice(_VOWELS if draw.random() < 0.8 else _RARE_VOWELS)
        + perhaps(_LAST, 0.5 if number == count - 1 else 0.2)
        for number in range(count)
    ]
    name = "".join(syllables)
    good = len(name) > 2 and name not in words
    return name.capitalize() if good else made_up(draw, words)


def _renamed(pair: Pair, small: set[str], draw: random.Random) -> Pair:
    source, target = _WORD.findall(pair.source), _WORD.findall(pair.target)
    names = [
        word
        for word in source
        if word.istitle()
        and len(word) > 2
        and source.count(word) == target.count(word) == 1
        and word.lower() not in small
    ]
    if not names:
        return pair
    letter = r"[^\W\d_]"  # as words are found: a digit or an underscore ends one
    old = re.compile(rf"(?<!{letter}){draw.choice(names)}(?!{letter})")
    new = made_up(draw, small)
    return Pair(old.sub(new, pair.source), old.sub(new, pair.target), pair.number)
