"""Tokens as a person reads them, by the marks that tokenizers put into them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

SPECIAL = re.compile(r"\[(CLS|SEP|PAD|MASK|UNK|BOS|EOS)\]|</?(s|pad|unk|mask|bos|eos)>|<\|[^|]*\|>")
"""[CLS], </s>, <|endoftext|>: tokens that stand for no text."""
STARTS = "▁Ġ"
"""SentencePiece's and byte-level BPE's mark of a piece that begins a word."""


def word_starts(tokens: Sequence[str]) -> list[int]:
    """The positions at which words begin."""
    if any(token.startswith("##") for token in tokens):
        return [i for i, token in enumerate(tokens) if i == 0 or not token.startswith("##")]
    if not any(token[:1] in STARTS and token for token in tokens):
        return list(range(len(tokens)))
    return [
        i
        for i, token in enumerate(tokens)
        if i == 0 or token[:1] in STARTS or _apart(token) or _apart(tokens[i - 1])
    ]


def special_of(tokens: Sequence[str]) -> list[int]:
    """The tokens that stand for no text."""
    return [i for i, token in enumerate(tokens) if SPECIAL.fullmatch(token)]


def separators_of(tokens: Sequence[str], special: Sequence[int]) -> list[int]:
    """Special tokens but the first of all, and tokens that are all punctuation."""
    return [i for i, token in enumerate(tokens) if i > 0 and (i in special or _is_mark(token))]


def readable(tokens: Sequence[str]) -> list[str] | None:
    """Byte-level BPE's letters as the text that they stand for; None where tokens are as shown."""
    if not any("Ġ" in token or "Ċ" in token for token in tokens):
        return None
    return [_from_bytes(token) for token in tokens]


def _is_mark(token: str) -> bool:
    bare = token.lstrip(STARTS).strip()
    return bool(bare) and all(unicodedata.category(sign).startswith("P") for sign in bare)


def _apart(token: str) -> bool:
    return bool(SPECIAL.fullmatch(token)) or (
        len(token) == 1 and unicodedata.category(token).startswith("P")
    )


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
