"""Images for tests, written byte by byte."""

from __future__ import annotations

import struct
import zlib


def huge(width: int = 30_000, height: int = 30_000) -> bytes:
    """A small PNG file whose header says that it has very many pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    parts = (b"IHDR", header), (b"IDAT", zlib.compress(bytes(1000))), (b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )
