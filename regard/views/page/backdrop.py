"""Backdrop: what pieces are drawn on, as the page's JSON: a picture or lines, and a box a piece."""

from __future__ import annotations

import base64
import struct
import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.pieces.backdrop import Backdrop
from regard.pieces.pieces import Pieces, Place

MOST_PIXELS = 768
"""On a side of the picture that the page carries."""
MOST_POINTS = 2000
"""Of a line."""
FROM, TO = np.array([13, 8, 60.0]), np.array([255, 236, 180.0])
"""The colours of a spectrogram, of what is silent and of what is loud."""


def backdrop_data(pieces: Pieces) -> dict[str, Any] | None:
    """What the page draws pieces on, and where; None if they are drawn on nothing."""
    behind = pieces.backdrop
    if behind is None:
        return None
    if behind.kind == "list":
        return _list(behind, pieces.places)
    width, height = behind.size
    boxes = [box_of(place, height) for place in pieces.places]
    known = {"kind": behind.kind, "width": width, "height": height, "boxes": boxes}
    if behind.kind == "curve":
        since = width if behind.since is None else behind.since
        return known | {"lines": _lines(behind), "since": since / width}
    pixels = _loudness(behind.values) if behind.kind == "spectrogram" else behind.values
    return known | {"picture": _address(png(_smaller(pixels)))}


def box_of(place: Place, height: int) -> list[int]:
    """Left, top, right, bottom; a span of time is as high as the whole."""
    return [place[0], 0, place[1], height] if len(place) == 2 else list(place)


def _list(behind: Backdrop, places: Sequence[Place]) -> dict[str, Any]:
    """The rows from the first that was read; a piece is a row."""
    first = min((place[0] for place in places if place), default=0)
    rows = behind.values[first:].tolist()
    boxes = [[0, place[0] - first, 1, place[0] - first + 1] if place else [] for place in places]
    return {"kind": "list", "width": 1, "height": len(rows), "boxes": boxes, "rows": rows}


def _lines(behind: Backdrop) -> list[list[float]]:
    """Each line from 0, its lowest, to 1, its highest value; gaps stay gaps (-1)."""
    every = -(-behind.values.shape[1] // MOST_POINTS)
    found = []
    for line in behind.values[:, ::every].astype(float):
        real = line[np.isfinite(line)]
        low = real.min(initial=np.inf) if len(real) else 0.0
        span = (real.max() - low if len(real) else 0.0) or 1.0
        shares = np.where(np.isfinite(line), (line - low) / span, -1)
        found.append([round(float(share), 4) for share in shares])
    return found


def _loudness(values: NDArray[Any]) -> NDArray[np.uint8]:
    """A spectrogram as colours, the lowest frequency at the bottom."""
    real = np.nan_to_num(values[::-1].astype(float))
    span = float(real.max() - real.min()) or 1.0
    share = ((real - real.min()) / span)[..., None]
    colours: NDArray[np.uint8] = (FROM + share * (TO - FROM)).round().astype(np.uint8)
    return colours


def _smaller(pixels: NDArray[Any]) -> NDArray[np.uint8]:
    """The means of squares of pixels, as large as they must be."""
    times = -(-max(pixels.shape[:2]) // MOST_PIXELS)
    if times == 1:
        return pixels
    rows, columns = (max(1, side // times) for side in pixels.shape[:2])
    down, across = (min(times, side) for side in pixels.shape[:2])
    cut = pixels[: rows * down, : columns * across].reshape(rows, down, columns, across, 3)
    means: NDArray[np.uint8] = cut.mean((1, 3)).round().astype(np.uint8)
    return means


def png(pixels: NDArray[np.uint8]) -> bytes:
    """(rows, columns, 3) as a PNG file."""
    rows, columns, _ = pixels.shape
    lines = np.concatenate([np.zeros((rows, 1), np.uint8), pixels.reshape(rows, -1)], 1)
    parts = (
        (b"IHDR", struct.pack(">IIBBBBB", columns, rows, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(lines.tobytes(), 9)),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        for kind, data in parts
    )


def _address(picture: bytes) -> str:
    return f"data:image/png;base64,{base64.b64encode(picture).decode()}"
