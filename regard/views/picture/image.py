"""An image and what one of its patches attends to, as PNG or SVG."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from regard.pieces.image import Patches
from regard.text import visible
from regard.views.picture.file import save_figure


def save_image(
    image: Patches,
    weights: NDArray[np.float32],
    chosen: int,
    title: str,
    path: str | os.PathLike[str],
    kind: str,
) -> None:
    """Draw and write; ``kind`` is ``png`` or ``svg``."""
    save_figure(lambda: draw_image(image, weights, chosen, title), path, kind, 9)


def draw_image(image: Patches, weights: NDArray[np.float32], chosen: int, title: str) -> Any:
    """The image with the chosen patch framed, and the weights of its patches laid over it."""
    from matplotlib.figure import Figure
    from matplotlib.patches import Rectangle

    height, width = image.pixels.shape[:2]
    tall = 4 * height / width * (4 if image.wide else 1)
    figure = Figure(figsize=(9, 1.2 + tall), layout="constrained")
    plain, over = figure.subplots(*((2, 1) if image.wide else (1, 2)))
    grid = image.grid(weights)
    first, last = image.pieces.places[image.special], image.pieces.places[-1]
    plain.imshow(image.pixels)
    over.imshow(image.pixels.mean(-1), cmap="gray", vmin=0, vmax=255)
    shown = over.imshow(
        grid, extent=(first[0], last[2], last[3], first[1]), alpha=0.65, interpolation="nearest"
    )
    place = image.pieces.places[chosen]
    for axes in (plain, over):
        axes.set(xlim=(0, width), ylim=(height, 0))
        axes.set_axis_off()
        if place:
            left, top, right, bottom = place
            frame = Rectangle(
                (left, top), right - left, bottom - top, fill=False, edgecolor="red", linewidth=1.5
            )
            axes.add_patch(frame)
    figure.colorbar(shown, ax=over, shrink=0.8, label="weight")
    figure.suptitle(f"{visible(image.pieces.labels[chosen])}: {title}".replace("$", r"\$"))
    return figure
