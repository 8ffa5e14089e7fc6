"""A look into a model as PNG or SVG: all heads as small maps, one head, or a word."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from regard.pieces.look import Look
from regard.text import cut, number_of, visible
from regard.views.picture.file import save_figure
from regard.views.terminal.look import KIND_SIGNS, remarks

MOST_LABELS = 64
"""Tokens that are written beside a map."""
MOST_BARS = 20


def save_picture(look: Look, path: str | os.PathLike[str], kind: str) -> None:
    """Draw and write; ``kind`` is ``png`` or ``svg``."""
    save_figure(lambda: draw(look), path, kind, 9)


def draw(look: Look) -> Any:
    if look.map is not None:
        figure = _one(look)
    elif look.place is not None:
        figure = _bars(look)
    else:
        figure = _all(look)
    note = [line for line in remarks(look) if look.request.no_sink]
    if note:
        figure.supxlabel(note[0], fontsize=7)
    return figure


def _all(look: Look) -> Any:
    """A small map of every head in one image; each pixel is the largest weight of its cell."""
    from matplotlib.figure import Figure

    layers = sorted({layer for layer, _ in look.pooled})
    heads = max(head for _, head in look.pooled) + 1
    tall, wide = next(iter(look.pooled.values())).shape
    gap = max(2, max(tall, wide) // 5)
    down, across = tall + gap, wide + gap
    image = np.full((len(layers) * down, heads * across), np.nan, dtype=np.float32)
    size = min(0.9, 30 / max(heads, len(layers)))
    figure = Figure(figsize=(heads * size + 1.2, len(layers) * size + 1.2), layout="constrained")
    axes = figure.subplots()
    for (layer, head), pooled in look.pooled.items():
        top, left = layers.index(layer) * down + gap, head * across
        image[top : top + tall, left : left + wide] = pooled
        sign = KIND_SIGNS[look.heads[layer, head].kind][0]
        axes.text(left, top - 0.5, sign, fontsize=6, ha="left", va="bottom")
    shown = axes.imshow(image, vmin=0, vmax=1, aspect="auto", interpolation="nearest")
    axes.set_xticks([h * across + wide / 2 for h in range(heads)], [*map(str, range(heads))])
    axes.set_yticks([i * down + gap + tall / 2 for i in range(len(layers))], [*map(str, layers)])
    axes.tick_params(length=0, labelsize=7)
    axes.spines[:].set_visible(False)
    axes.set(xlabel="head", ylabel="layer")
    figure.colorbar(shown, shrink=0.5)
    signs = ", ".join(f"{sign} {name}" for sign, name in KIND_SIGNS.values())
    read = number_of(len(look.queries), "token" if look.queries.noun == "token" else "piece")
    axes.set_title(_plain(f"{visible(look.model)}: {read}"), fontsize=9)
    figure.text(0.01, 0.002, signs, fontsize=5)
    return figure


def _one(look: Look) -> Any:
    from matplotlib.figure import Figure

    assert look.map is not None
    queries, keys = look.names
    rows, columns = look.map.shape
    small = max(rows, columns) <= MOST_LABELS
    weights = (look.map.dense() if small else look.map.pooled(512)).cpu().numpy()
    side = max(5.0, min(14.0, 0.25 * max(rows, columns))) if small else 9.0
    figure = Figure(figsize=(side + 1, side), layout="constrained")
    axes = figure.subplots()
    image = axes.imshow(weights, vmin=0, vmax=1, extent=None if small else (0, columns, rows, 0))
    if small:
        names = [[_plain(cut(visible(n), 20)) for n in side] for side in (keys, queries)]
        axes.set_xticks(range(columns), names[0], rotation=90)
        axes.set_yticks(range(rows), names[1])
    axes.set(xlabel="key", ylabel="query")
    figure.colorbar(image, shrink=0.7)
    kind = KIND_SIGNS[look.heads[look.request.layer or 0, look.request.head or 0].kind][1]
    what = f"layer {look.request.layer}, head {look.request.head} ({kind})"
    axes.set_title(_plain(f"{look.model}, {what}"))
    return figure


def _bars(look: Look) -> Any:
    """What a word attends to and who attends to it, the mean over all heads."""
    from matplotlib.figure import Figure

    place = look.place
    assert place is not None
    queries, keys = look.names
    sides = [
        (f"'{visible(place.text)}' attends to", place.to, keys, look.left_out[1]),
        (f"'{visible(place.text)}' is attended to by", place.by, queries, look.left_out[0]),
    ]
    sides = [side for side in sides if side[1]]
    figure = Figure(figsize=(5.5 * len(sides), 5), layout="constrained")
    for axes, (title, rows, names, gone) in zip(
        figure.subplots(1, len(sides), squeeze=False)[0], sides, strict=True
    ):
        mean = np.concatenate(list(rows.values())).mean(0)
        order = [j for j in np.argsort(-mean, kind="stable") if j not in gone][:MOST_BARS]
        axes.barh(range(len(order)), mean[order])
        axes.set_yticks(range(len(order)), [_plain(cut(visible(names[j]), 24)) for j in order])
        axes.invert_yaxis()
        axes.set(title=_plain(title), xlabel="mean weight over all heads")
    return figure


def _plain(text: str) -> str:
    """Without the signs that would start a formula."""
    return text.replace("$", r"\$")
