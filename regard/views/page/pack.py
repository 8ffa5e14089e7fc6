"""Pack: arrays as text inside a page, small and checked.

Each array is cut into planes (all first bytes, all second bytes, …: the bytes that hold exponents
compress, those of the last digits do not), deflated by itself, so that a page unpacks only what it
shows, and written five characters for four bytes, in characters that mean nothing to HTML.
"""

from __future__ import annotations

import hashlib
import zlib
from typing import Any

import numpy as np

from regard.trace import Array

ALPHABET = "".join(chr(c) for c in range(33, 127) if chr(c) not in "\"&'/<>\\`|")
"""85 characters: the printable ones that need no escape in HTML, JSON or JavaScript."""
EXACT = 1 << 19
"""Numbers up to which a page carries float32; above it, half precision."""
_CODES = np.frombuffer(ALPHABET.encode(), np.uint8)


class Pack:
    """Arrays on their way into a page; ``add`` gives the number that the page knows one by."""

    def __init__(self, half: bool) -> None:
        self.half = half
        self.entries: list[dict[str, Any]] = []
        self._texts: list[bytes] = []
        self._at = 0

    def add(self, array: Array | None, *, exact: bool = False) -> int | None:
        """Booleans become bits, numbers float16 or float32 (``exact`` ones always float32).

        What is in 8 or 16 bits already stays so.
        """
        if array is None:
            return None
        shape = array.shape
        if array.dtype == np.bool_:
            kind, array = "bits", np.packbits(array.ravel(), bitorder="little")
        elif array.dtype == np.int8:
            kind = "i1"
        elif array.dtype == np.float16 or (self.half and not exact and fits_half(array)):
            kind, array = "f2", array.astype("<f2")
        else:
            kind, array = "f4", array.astype("<f4")
        data = deflated(planes(array))
        text = to_text(data)
        entry = {"at": self._at, "bytes": len(data), "kind": kind, "shape": list(shape)}
        self.entries.append(entry)
        self._texts.append(text)
        self._at += len(text)
        return len(self.entries) - 1

    def text(self) -> str:
        return b"".join(self._texts).decode()


def fits_half(array: Array) -> bool:
    """Whether half precision can hold the largest number."""
    finite = array[np.isfinite(array)]
    return not finite.size or float(np.abs(finite).max()) < 65504


def checksum(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def planes(array: Array) -> bytes:
    """All first bytes of the numbers, then all second bytes, …"""
    size = array.dtype.itemsize
    return np.ascontiguousarray(array).view(np.uint8).reshape(-1, size).T.tobytes()


def deflated(data: bytes) -> bytes:
    """zlib's format, with whichever strategy does better on a sample of the data."""
    middle = len(data) // 2
    sample = data[middle : middle + 65536]
    choices = (zlib.Z_DEFAULT_STRATEGY, zlib.Z_HUFFMAN_ONLY)
    return _deflate(data, min(choices, key=lambda strategy: len(_deflate(sample, strategy))))


def _deflate(data: bytes, strategy: int) -> bytes:
    pack = zlib.compressobj(6, zlib.DEFLATED, 15, 9, strategy)
    return pack.compress(data) + pack.flush()


def to_text(data: bytes) -> bytes:
    """Five characters for each four bytes, the last ones filled with zeros."""
    words = np.frombuffer(data + bytes(-len(data) % 4), ">u4").astype(np.uint64)
    digits = np.empty((len(words), 5), np.uint8)
    for place in range(4, -1, -1):
        words, rest = np.divmod(words, np.uint64(85))
        digits[:, place] = rest
    return _CODES[digits].tobytes()
