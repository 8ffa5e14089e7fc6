"""Names: teach a translator to copy the names that it never saw.

A collection such as Tatoeba says *Tom* in every fourth sentence and hardly any other name, so a
model learns the word *Tom* where it should learn to copy. In a share of the training pairs that
have a name, it (of several any number) gives way on both sides to one that is made up, another in
each pass, so that none can be learned by heart:

    Tom wohnt in Boston.       Tom lives in Boston.
    Krelan wohnt in Boston.    Krelan lives in Boston.

A name is a word that stands once on each side in the same letters, the first one large, and that is
never written small in the text: *Boston*, but neither *In* nor *Winter*. One half of those that are
made up are syllables, the other the beginning of one word of the text and the end of another, as
*Wolfgang* is: their pieces are pieces that mean something elsewhere.
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
_GLUED = (2, 3, 4, 5)
"""Letters of each of two words that make a name together."""


class Names:
    """The names in some pairs, and others in their place."""

    def __init__(self, pairs: Sequence[Pair]) -> None:
        self.pairs = pairs
        sides = [[_WORD.findall(side) for side in pair.texts()] for pair in pairs]
        words = {word for pair in sides for side in pair for word in side}
        self.small = {word for word in words if word.islower()}
        self.known = {word.lower() for word in words}
        self.words = sorted(word for word in self.known if len(word) >= max(_GLUED))
        found = ((place, self._in(*pair)) for place, pair in enumerate(sides))
        self.found = {place: names for place, names in found if names}
        """The names of each pair that has some, by its place."""

    def _in(self, source: list[str], target: list[str]) -> list[str]:
        return [
            word
            for word in source
            if word.istitle()
            and len(word) > 2
            and source.count(word) == target.count(word) == 1
            and word.lower() not in self.small
        ]

    def renamed(self, share: float, seed: str) -> dict[int, Pair]:
        """By their places, ``share`` of the pairs with a name, each with made-up ones."""
        draw = random.Random(seed)
        return {
            place: self._with_others(self.pairs[place], names, draw)
            for place, names in self.found.items()
            if draw.random() < share
        }

    def _with_others(self, pair: Pair, names: list[str], draw: random.Random) -> Pair:
        source, target = pair.texts()
        letter = r"[^\W\d_]"  # as words are found: a digit or an underscore ends one
        for name in draw.sample(names, draw.randint(1, len(names))):
            old = re.compile(rf"(?<!{letter}){name}(?!{letter})")
            glued = self.words and draw.random() < 0.5
            new = self._glued(draw) if glued else made_up(draw, self.known)
            source, target = old.sub(new, source), old.sub(new, target)
        return Pair(source, target, pair.number)

    def _glued(self, draw: random.Random) -> str:
        first, last = draw.choice(self.words), draw.choice(self.words)
        name = first[: draw.choice(_GLUED)] + last[-draw.choice(_GLUED) :]
        # Of some letters the large form is two, and then no title.
        fine = name.capitalize().istitle() and name not in self.known
        return name.capitalize() if fine else made_up(draw, self.known)


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
