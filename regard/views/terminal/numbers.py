"""Numbers on a terminal: enough digits to check by hand, as many as fit the line."""

from __future__ import annotations

import math

import numpy as np
from rich.style import Style
from rich.text import Text

from regard.trace import Array

# The ends and middle of viridis-like ramp: readable with every kind of colour vision.
RAMP = ((68, 1, 84), (49, 104, 142), (53, 183, 121), (253, 231, 37))
BLOCKS = " ▏▎▍▌▋▊▉█"


def decimals(values: Array) -> int:
    """Decimals that show about four digits of the largest number, the same for a whole array."""
    finite = np.abs(values[np.isfinite(values)])
    most = float(finite.max()) if finite.size else 0.0
    return 4 if most == 0 else min(8, max(2, 3 - math.floor(math.log10(most))))


def number(value: float, places: int) -> str:
    """One number; a minus sign only where something is left of it after rounding."""
    if not math.isfinite(value):
        return "-inf" if value < 0 else ("inf" if value > 0 else "nan")
    text = f"{value:.{places}f}"
    return text[1:] if text.startswith("-") and float(text) == 0 else text


def vector(values: Array, width: int, places: int | None = None, *, counted: bool = True) -> str:
    """``[0.80 0.60 … 64 in all]``: a vector in at most ``width`` columns.

    Not ``counted``, as in a table whose head says how many there are: ``[0.80 0.60 …]``.
    """
    places = decimals(values) if places is None else places
    texts = [number(float(v), places) for v in values]
    size = max((len(t) for t in texts), default=0)
    texts = [t.rjust(size) for t in texts]
    fits = max(1, (width - 2 + 1) // (size + 1))
    if len(texts) > fits:
        tail = f"… {len(texts)} in all" if counted else "…"
        fits = max(1, (width - 2 - len(tail)) // (size + 1))
        return f"[{' '.join(texts[:fits])} {tail}]"
    return f"[{' '.join(texts)}]"


def bar(share: float, width: int) -> Text:
    """A bar of ``share`` (0 to 1) of ``width`` columns, in eighths."""
    eighths = round(max(0.0, min(1.0, share)) * width * 8)
    text = BLOCKS[8] * (eighths // 8) + (BLOCKS[eighths % 8] if eighths % 8 else "")
    return Text(text, style=Style(color=f"rgb({','.join(map(str, colour(share)))})"))


def colour(share: float) -> tuple[int, int, int]:
    """A point of the ramp; the darkest quarter is left out, to be seen on black."""
    place = (0.25 + 0.75 * max(0.0, min(1.0, share))) * (len(RAMP) - 1)
    i = min(int(place), len(RAMP) - 2)
    r, g, b = (round(a + (z - a) * (place - i)) for a, z in zip(RAMP[i], RAMP[i + 1], strict=True))
    return r, g, b
