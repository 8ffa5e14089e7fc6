"""Tokenise: a sentence cut into words and marks, in any script; only white space is lost."""

from __future__ import annotations

import re
import unicodedata
from functools import cache

from regard.errors import RegardError

# Chinese characters are written without spaces: each one stands for itself.
IDEOGRAPH = "\u3005-\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
APOSTROPHE = "'\u2019"
# Zero-width (non-)joiners and the soft hyphen sit inside words of Persian, Hindi or German.
JOINERS = "\u00ad\u200c\u200d"
# The pattern below, as far as it concerns ASCII: plain English is cut several times as fast.
ASCII = re.compile(r"\d+(?:[.,]\d+)+|\w+(?:'\w+)*|\S")


def tokenise(text: str) -> list[str]:
    """Words, numbers and punctuation marks of ``text``, in order.

    A word keeps its inner apostrophes (``didn't``) and underscores, its accents and vowel signs;
    a number keeps its inner points and commas (``3.14``); a Chinese character is a token; any
    other mark is a token of its own. Letters are not changed.

    >>> tokenise("The animal didn't cross.")
    ['The', 'animal', "didn't", 'cross', '.']
    """
    tokens = split(text)
    if not tokens:
        raise RegardError("the text holds no words: it is empty or all white space; give one word")
    return tokens


def split(text: str) -> list[str]:
    """The same, and an empty list for a text without words, such as an empty line of a file."""
    return (ASCII if text.isascii() else _pattern()).findall(text)


def spans(text: str) -> list[tuple[int, int]]:
    """Where each of these tokens begins and ends in ``text``."""
    return [found.span() for found in (ASCII if text.isascii() else _pattern()).finditer(text)]


@cache
def _pattern() -> re.Pattern[str]:
    # Python's \w knows letters and digits but not the marks that combine with them, without which
    # half of the words of Hindi, and any accent written separately, would fall apart.
    marks = JOINERS + "".join(
        re.escape(chr(code))
        for code in (*range(0x300, 0x20000), *range(0xE0100, 0xE01F0))
        if unicodedata.category(chr(code)).startswith("M")
    )
    letter = f"[^\\W{IDEOGRAPH}]"
    # Runs of letters first: the long class of marks is tried once a word, not once a letter.
    letters = f"{letter}+(?:[{marks}]+{letter}*)*"
    number = r"\d+(?:[.,]\d+)+"
    word = f"{letters}(?:[{APOSTROPHE}]{letters})*"
    other = f"\\S[{marks}]*"
    return re.compile(f"{number}|{word}|{other}")
