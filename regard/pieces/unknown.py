"""Unknown: what of a text a model could not read, and the sentence that says so."""

from __future__ import annotations

import unicodedata
from collections import Counter

from regard.pieces.pieces import Pieces
from regard.text import listed

INSTEAD = "use other words, or a model that reads bytes, such as smollm2"


class Unknown:
    """The parts of one or more texts that stand for nothing in a model's vocabulary."""

    def __init__(self, *texts: Pieces) -> None:
        self.parts: Counter[str] = Counter()
        self.characters = 0
        """How many characters of the texts there are, white space left out."""
        for pieces in texts:
            self.add(pieces)

    def add(self, pieces: Pieces) -> None:
        """One more text."""
        self.characters += sum(not sign.isspace() for sign in pieces.text)
        self.parts.update(_parts(pieces))

    def __bool__(self) -> bool:
        return bool(self.parts)

    def note(self, model: str, *, what: str = "vocabulary", instead: str = INSTEAD) -> str:
        """How much it is, which characters, and what to use instead; empty if all is known."""
        if not self.parts:
            return ""
        lost = sum(len(part) * times for part, times in self.parts.items())
        share = "all" if lost >= self.characters else f"{lost:,} of {self.characters:,}"
        return (
            f"not in the {what} of {model}: {listed(self.parts.elements())} ({share} characters); "
            f"it reads one and the same mark there, whatever the text says: {instead}"
        )


def _parts(pieces: Pieces) -> list[str]:
    """The user's own characters, those of neighbouring pieces of one word together."""
    if pieces.backdrop is not None or (pieces.placed and not pieces.text):  # all of it is read
        return []
    parts: list[str] = []
    for word in pieces.words:
        run = ""
        for i in range(word.start, word.stop):
            part = pieces.text[slice(*pieces.places[i])] if pieces.places[i] else pieces.labels[i]
            run = run + part.strip() if pieces.unknown[i] else _ended(run, parts)
        _ended(run, parts)
    return parts + _dropped(pieces)


def _ended(run: str, parts: list[str]) -> str:
    if run:
        parts.append(run)
    return ""


def _dropped(pieces: Pieces) -> list[str]:
    """Signs that a tokenizer left out without a mark; accents and control characters may be."""
    if not pieces.placed:
        return []
    seen = bytearray(len(pieces.text))
    for place in pieces.places:
        if place:
            seen[slice(*place)] = b"\x01" * (place[1] - place[0])
    return [
        sign
        for sign, covered in zip(pieces.text, seen, strict=True)
        if not covered and unicodedata.category(sign)[0] not in "CMZ"
    ]
