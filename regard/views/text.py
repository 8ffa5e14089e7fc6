"""Text from users, made safe to print. Standard library only: the command line starts with it."""

from __future__ import annotations

from regard.text import visible

__all__ = ["find_token", "visible"]


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
