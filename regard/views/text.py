"""Text from users, made safe to print. Standard library only: the command line starts with it."""

from __future__ import annotations

JOINERS = "\u200c\u200d"
"""Zero-width (non-)joiners: part of ordinary Persian words and of emoji, and harmless."""


def visible(text: str) -> str:
    """``text`` on one line with control characters shown as escapes, so that they cannot act."""
    return "".join(
        c if c.isprintable() or c in JOINERS else c.encode("unicode_escape").decode()
        for c in " ".join(text.split("\n"))
    )


def find_token(tokens: list[str], word: str) -> tuple[int, int]:
    """Where ``word`` stands in ``tokens``, and how often it occurs.

    ``the#2`` is the second *the*. Exact matches go before those that differ in case only.
    """
    from regard.errors import UnknownWordError, nearest

    wanted, _, number = word.rpartition("#")
    nth = int(number) if wanted and number.isdecimal() and word not in tokens else 0
    wanted = wanted if nth else word
    places = [i for i, token in enumerate(tokens) if token == wanted]
    places = places or [i for i, t in enumerate(tokens) if t.lower() == wanted.lower()]
    if not places:
        raise UnknownWordError(
            f"{wanted!r} is not one of the words {' '.join(tokens[:30])!r}{nearest(wanted, tokens)}"
        )
    if nth > len(places):
        raise UnknownWordError(f"{wanted!r} occurs {len(places)} times, got {word!r}")
    return places[max(nth, 1) - 1], len(places)
