"""Marks: tokens of which nothing is known but how a tokenizer wrote them, read by its marks."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

from regard.pieces.grouping import group
from regard.pieces.pieces import Pieces, Place
from regard.text import Word

SPECIAL = re.compile(r"\[(CLS|SEP|PAD|MASK|BOS|EOS)\]|</?(s|pad|mask|bos|eos)>|<\|[^|]*\|>")
"""[CLS], </s>, <|endoftext|>: tokens that stand for no text."""
UNKNOWN = ("[UNK]", "<unk>")
"""What tokenizers put in the place of text that they have no token for."""
STARTS = "▁Ġ"
"""SentencePiece's and byte-level BPE's mark of a piece that begins a word."""
CONTINUES = "##"
"""WordPiece's mark of a piece that does not begin a word."""


def from_labels(tokens: Sequence[str], name: str = "") -> Pieces:
    """Pieces of tokens as the usual tokenizers write them; without marks, each is a word."""
    labels = _readable(tokens)
    unknown = [token in UNKNOWN for token in tokens]
    special = [bool(SPECIAL.fullmatch(token)) for token in tokens]
    separators = [
        i > 0 and (own or is_mark(label.lstrip(STARTS)))
        for i, (label, own) in enumerate(zip(labels, special, strict=True))
    ]
    text, places = _text_of(labels, special)
    words = [Word(label, i, i + 1) for i, label in enumerate(labels)]
    if text:
        words = group(text, labels, places)
    return Pieces(labels, words, special, separators, unknown, places, [], text, name)


def is_mark(part: str) -> bool:
    """Whether a token is all punctuation, or white space with a line break in it."""
    bare = part.strip()
    if not bare:
        return "\n" in part
    return all(unicodedata.category(sign).startswith("P") for sign in bare)


def _text_of(labels: Sequence[str], special: Sequence[bool]) -> tuple[str, list[Place]]:
    """The text that the marks tell of, and where in it each token stands; none if there are none.

    A token that continues a word follows the one before it, any other comes behind a blank.
    """
    pieces = any(label.startswith(CONTINUES) for label in labels)
    if not pieces and not any(label.startswith(tuple(STARTS)) for label in labels):
        return "", [()] * len(labels)
    parts, places, end = list[str](), list[Place](), 0
    for label, own in zip(labels, special, strict=True):
        begins = not label.startswith(CONTINUES) if pieces else label.startswith(tuple(STARTS))
        bare = label.removeprefix(CONTINUES) if pieces else label.lstrip(STARTS)
        parts.append(" " * (begins or own) + bare)
        start, end = end, end + len(parts[-1])
        places.append(() if own else (start, end))
    return "".join(parts), places


def _readable(tokens: Sequence[str]) -> list[str]:
    """Byte-level BPE's letters as the text that they stand for; other tokens as they are."""
    if not any("Ġ" in token or "Ċ" in token for token in tokens):
        return list(tokens)
    return [_from_bytes(token) for token in tokens]


def _letters() -> dict[str, int]:
    """Byte-level BPE writes a byte as a printable letter: itself, or the next free from 256."""
    plain = [*range(33, 127), *range(161, 173), *range(174, 256)]
    others = [byte for byte in range(256) if byte not in plain]
    return {chr(b): b for b in plain} | {chr(256 + i): b for i, b in enumerate(others)}


_BYTES = _letters()


def _from_bytes(token: str) -> str:
    if not all(sign in _BYTES for sign in token):
        return token
    text = bytes(_BYTES[sign] for sign in token).decode("utf-8", "replace")
    return ("▁" + text[1:] if text.startswith(" ") else text).replace("\n", "⏎")
