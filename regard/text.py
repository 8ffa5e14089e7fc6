"""Text from users: made safe to print, as wide as a terminal shows it, and its words by name.

No imports of weight.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from regard.errors import DataError, UnknownWordError, nearest

JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiners: part of ordinary Persian words and of emoji, and harmless."""


class Word(NamedTuple):
    """A word and the tokens that it is made of: those from ``start`` up to ``stop``."""

    text: str
    start: int
    stop: int


def check_unicode(text: str) -> None:
    """Raise unless ``text`` can be written down."""
    try:
        text.encode()
    except UnicodeEncodeError as error:  # half of a surrogate pair, or a byte that is no UTF-8
        raise DataError(f"a text must be valid Unicode: {error}") from error


def visible(text: str) -> str:
    """``text`` on one line with control characters shown as escapes, so that they cannot act."""
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode()
        for c in " ".join(text.split("\n"))
    )


def quoted(text: str) -> str:
    """``visible`` text between quotes; unlike ``repr`` of it, each escape is written once."""
    mark = '"' if "'" in text and '"' not in text else "'"
    return f"{mark}{visible(text)}{mark}"


def listed(words: Iterable[str], most: int = 20) -> str:
    """``'a', 'b' ×2`` in order of first appearance, and how many more there are."""
    counts = Counter(words)
    parts = [
        f"'{visible(word)}'" + (f" ×{times}" if times > 1 else "")
        for word, times in list(counts.items())[:most]
    ]
    more = f" and {len(counts) - most:,} more" if len(counts) > most else ""
    return ", ".join(parts) + more


def number_of(count: int, noun: str, nouns: str = "") -> str:
    """``1 user``, ``2,000 users``; ``nouns`` where an s is not enough."""
    return f"{count:,} {noun if count == 1 else nouns or noun + 's'}"


def columns(text: str) -> int:
    """How many columns of a terminal ``text`` takes: Chinese signs take two, accents none."""
    return len(text) if text.isascii() else sum(map(_columns, text))


def cut(text: str, most: int) -> str:
    """``text``, or its beginning and ``…`` where it would take more than ``most`` columns."""
    if columns(text) <= most:
        return text
    taken, end = 1, 0  # the … takes one
    for end, sign in enumerate(text):  # noqa: B007
        taken += _columns(sign)
        if taken > most:
            break
    return text[:end].rstrip() + "…"


def padded(text: str, width: int) -> str:
    """``text`` filled with blanks to ``width`` columns."""
    return text + " " * (width - columns(text))


def _columns(sign: str) -> int:
    if unicodedata.east_asian_width(sign) in "WF":
        return 2
    return 0 if unicodedata.category(sign) in ("Mn", "Me", "Cf") else 1


def find_token(tokens: Sequence[str], word: str) -> tuple[int, int]:
    """Where ``word`` stands in ``tokens``, and how often it occurs.

    ``the#2`` is the second *the*. Exact matches go before those that differ in case only.
    """
    wanted, _, number = word.rpartition("#")
    nth = int(number) if wanted and number.isdecimal() and word not in tokens else 0
    wanted = wanted if nth else word
    places = [i for i, token in enumerate(tokens) if token == wanted]
    if len(places) < max(nth, 1):
        places = [i for i, t in enumerate(tokens) if t.lower() == wanted.lower()]
    if not places:
        raise not_among(wanted, tokens)
    if nth > len(places):
        raise UnknownWordError(f"{wanted!r} occurs {len(places)} times, got {word!r}")
    return places[max(nth, 1) - 1], len(places)


def not_among(word: str, words: Sequence[str], also: Sequence[str] = ()) -> UnknownWordError:
    """The error that lists ``words``, each once, and names what is near, in ``also`` too."""
    known = list(dict.fromkeys(words))
    near = nearest(word, dict.fromkeys([*known, *also]))
    return UnknownWordError(f"{word!r} is not one of the words {' '.join(known[:30])!r}{near}")


def aligned(first: Sequence[str], second: Sequence[str]) -> list[tuple[int | None, int | None]]:
    """Places of the same token in both; where they differ, tokens beside each other as far as
    there are any, then alone."""
    from difflib import SequenceMatcher

    pairs: list[tuple[int | None, int | None]] = []
    for _, a, b, c, d in SequenceMatcher(None, first, second, autojunk=False).get_opcodes():
        for step in range(max(b - a, d - c)):
            pairs.append((a + step if a + step < b else None, c + step if c + step < d else None))
    return pairs
