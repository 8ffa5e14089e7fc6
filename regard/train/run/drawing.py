"""Drawing: curves and alignments as SVG, for a page that opens without anything installed."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape

from regard.text import cut, visible

Points = Sequence[tuple[float, float]]
WIDTH, HEIGHT = 440, 260
LEFT, RIGHT, TOP, BOTTOM = 52, 12, 26, 38
"""What is left free around the curves, for numbers and names."""
CELL, LETTER = 26, 7.2
"""Of an alignment: a cell's side, and about how wide a letter is."""
LONGEST = 16
"""Letters of a word beside an alignment."""


def chart(series: Mapping[str, Points], across: str, up: str) -> str:
    """Curves by name over a common axis; those without a point are left out."""
    lines = {
        name: [p for p in points if all(map(math.isfinite, p))] for name, points in series.items()
    }
    lines = {name: points for name, points in lines.items() if points}
    if not lines:
        return ""
    places = [p for points in lines.values() for p in points]
    x_low, x_high = 0.0, max(x for x, _ in places) or 1.0
    y_ticks = ticks(min(y for _, y in places), max(y for _, y in places))
    y_low, y_high = y_ticks[0], y_ticks[-1]

    def place(x: float, y: float) -> tuple[float, float]:
        right = LEFT + (x - x_low) / (x_high - x_low) * (WIDTH - LEFT - RIGHT)
        down = HEIGHT - BOTTOM - (y - y_low) / (y_high - y_low) * (HEIGHT - TOP - BOTTOM)
        return round(right, 1), round(down, 1)

    parts = [f'<svg viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(up)}">']
    for y in y_ticks:
        _, down = place(x_low, y)
        parts.append(f'<path class="grid" d="M{LEFT} {down}H{WIDTH - RIGHT}"/>')
        parts.append(f'<text x="{LEFT - 6}" y="{down + 4}" text-anchor="end">{y:g}</text>')
    for x in ticks(x_low, x_high):
        if x <= x_high:
            right, _ = place(x, y_low)
            parts.append(
                f'<text x="{right}" y="{HEIGHT - BOTTOM + 16}" text-anchor="middle">{x:g}</text>'
            )
    for number, (name, points) in enumerate(lines.items()):
        path = "M" + "L".join(f"{a} {b}" for a, b in (place(x, y) for x, y in points))
        if len(points) == 1:
            path += "h0"  # a dot: its ends are round
        parts.append(
            f'<path class="line l{number}" d="{path}"><title>{escape(name)}</title></path>'
        )
        parts.append(
            f'<text class="l{number}" x="{LEFT + 170 * number}" y="14">{escape(name)}</text>'
        )
    parts.append(f'<text x="{WIDTH - RIGHT}" y="{HEIGHT - 6}" text-anchor="end">{across}</text>')
    return "".join([*parts, "</svg>"])


def ticks(low: float, high: float) -> list[float]:
    """Round numbers, four to nine, the first at most ``low`` and the last at least ``high``."""
    span = (high - low) or abs(high) or 1.0
    raw = 10 ** math.floor(math.log10(span / 4))
    step = next(raw * f for f in (1, 2, 5, 10) if span / (raw * f) <= 6)
    first = math.floor(low / step + 1e-9)
    last = max(math.ceil(high / step - 1e-9), first + 1)
    return [round(n * step, 12) for n in range(first, last + 1)]


def alignment(
    source: Sequence[str], target: Sequence[str], weights: Sequence[Sequence[float]]
) -> str:
    """A row for each target word, a column for each source word; the darker, the more weight."""
    names = [[cut(visible(word), LONGEST) for word in side] for side in (source, target)]
    left = 10 + LETTER * max(map(len, names[1]), default=0)
    top = 10 + 0.75 * LETTER * max(map(len, names[0]), default=0)
    width = left + CELL * len(source) + 0.75 * LETTER * len(names[0][-1] if names[0] else "")
    parts = [
        f'<svg class="cells" viewBox="0 0 {width:.0f} {top + CELL * len(target):.0f}" '
        f'style="width: {width:.0f}px">'
    ]
    for j, word in enumerate(names[0]):
        x, y = left + CELL * j + CELL / 2, top - 6
        parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" transform="rotate(-45 {x:.1f} {y:.1f})">'
            f"{escape(word)}</text>"
        )
    for i, word in enumerate(names[1]):
        y = top + CELL * i
        parts.append(
            f'<text x="{left - 6:.1f}" y="{y + CELL / 2 + 4:.1f}" text-anchor="end">'
            f"{escape(word)}</text>"
        )
        for j, weight in enumerate(weights[i]):
            said = f"{target[i]} → {source[j]}: {100 * weight:.0f} %"
            parts.append(
                f'<rect x="{left + CELL * j:.1f}" y="{y:.1f}" width="{CELL - 1}" '
                f'height="{CELL - 1}" fill-opacity="{weight:.3f}">'
                f"<title>{escape(visible(said))}</title></rect>"
            )
    return "".join([*parts, "</svg>"])
