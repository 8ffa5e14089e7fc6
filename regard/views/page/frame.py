"""Frame: a page inside a notebook, apart from the notebook's own page.

An iframe with the page in its ``srcdoc`` works in JupyterLab, VS Code and Colab alike: the sandbox
lets its script run and nothing else (no origin, no access to the notebook). Where scripts are off,
the picture above it stays.
"""

from __future__ import annotations

import base64
import html
import struct
import zlib
from collections.abc import Sequence

import numpy as np

from regard.pieces.sheet import Subject
from regard.trace import Array
from regard.views.page.file import page_html, visible_title
from regard.views.terminal.numbers import RAMP

LARGEST = 24_000_000
"""Characters of a page inside a notebook; a larger one is to be saved as a file."""


def frame_html(*subjects: Subject, height: int = 720) -> str:
    """The page in an isolated frame, and a static picture for where scripts do not run."""
    text = page_html(*subjects)
    picture = still(subjects[0])
    if len(text) > LARGEST:
        return f"{picture}<p>{len(text) / 1e6:.0f} MB: save it with .save_html(path) to see it.</p>"
    details = f"<details><summary>A still picture of it</summary>{picture}</details>"
    return (
        f"{details if picture else ''}"
        '<iframe sandbox="allow-scripts allow-downloads" allow="clipboard-write" loading="lazy" '
        f'title="{html.escape(visible_title(subjects[0].title))}" '
        f'style="width:100%;height:{height}px;border:1px solid #8884;border-radius:8px" '
        f'srcdoc="{html.escape(text)}"></iframe>'
    )


def still(subject: Subject) -> str:
    """The subject's picture as PNG in an ``img`` element; nothing if it has none."""
    if subject.picture is None:
        return ""
    cells = pooled(subject.picture, 256)
    by = max(1, 256 // max(cells.shape))  # sharp also where a style is not allowed
    data = base64.b64encode(png_of(cells.repeat(by, 0).repeat(by, 1))).decode()
    queries, keys = subject.sheets[0].shape
    alt = f"attention of {queries} x {keys} tokens, the first head"
    return (
        f'<img alt="{alt}" width="320" style="image-rendering:pixelated" '
        f'src="data:image/png;base64,{data}">'
    )


def pooled(weights: Array, most: int) -> Array:
    """At most ``most`` cells on a side, each the largest weight under it."""
    for axis in (0, 1):
        size = -(-weights.shape[axis] // most)
        if size > 1:
            weights = np.maximum.reduceat(weights, range(0, weights.shape[axis], size), axis)
    return weights


def png_of(weights: Array) -> bytes:
    """A picture with a pixel for each cell."""
    most = float(weights.max(initial=0)) or 1.0
    ramp = np.array(RAMP, float)
    place = np.clip(weights / most, 0, 1) * (len(ramp) - 1)
    low = np.minimum(place.astype(int), len(ramp) - 2)
    colours = ramp[low] + (ramp[low + 1] - ramp[low]) * (place - low)[..., None]
    height, width = weights.shape
    rows = np.zeros((height, 1 + 3 * width), np.uint8)  # each begins with its filter, none
    rows[:, 1:] = colours.round().astype(np.uint8).reshape(height, -1)
    parts = [
        (b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(rows.tobytes())),
        (b"IEND", b""),
    ]
    return b"\x89PNG\r\n\x1a\n" + b"".join(_chunk(name, data) for name, data in parts)


def _chunk(name: bytes, data: bytes) -> bytes:
    check = zlib.crc32(name + data)
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", check)


def shown_in_notebook(subjects: Sequence[Subject]) -> str:
    """What ``_repr_html_`` gives: nothing to see is no error there."""
    shown = [subject for subject in subjects if subject.sheets]
    return frame_html(*shown) if shown else ""
